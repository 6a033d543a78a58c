"""Contact problems from Python."""

import pathlib
import tempfile
import unittest

import numpy as np

import ricochet


class Problems(unittest.TestCase):
    def test_one_contact_that_sticks_and_slides(self):
        # exact: W = 1, so r_N = -q_N, and |r_T| is |q_T| or mu r_N, whichever is less
        for slip, expected in ((0.2, -0.2), (2.0, -0.5)):
            problem = ricochet.ContactProblem(W=np.eye(2), q=[-1, slip], mu=[0.5])
            solution = ricochet.solve(problem)
            self.assertTrue(solution.solved)
            self.assertTrue(np.allclose(solution.impulses, [1, expected], atol=1e-7))
            self.assertLess(solution.residual["err_q"], 1e-8)

    def test_methods_agree(self):
        rng = np.random.default_rng(1)
        H = rng.normal(size=(12, 12))
        problem = ricochet.ContactProblem(W=H @ H.T, q=rng.normal(size=12), mu=[0.3] * 4)
        self.assertEqual((problem.dim, problem.contacts), (3, 4))
        first = ricochet.solve(problem, method="newton")
        other = ricochet.solve(problem, method="gauss-seidel")
        self.assertTrue(first.solved and other.solved)
        self.assertTrue(np.allclose(first.impulses, other.impulses, atol=1e-5))

    def test_files(self):
        problem = ricochet.ContactProblem(W=np.eye(3), q=[-1, 0.1, 0], mu=[0.5])
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one.npz", "one.hdf5", "one.txt"):
                file = pathlib.Path(folder) / name
                problem.write(file)
                solution = ricochet.solve(file)
                self.assertTrue(np.allclose(solution.impulses, [1, -0.1, 0], atol=1e-7), name)

    def test_errors(self):
        with self.assertRaisesRegex(ricochet.ProblemError, "did you mean 'newton'"):
            ricochet.solve(ricochet.ContactProblem(np.eye(2), [-1, 0], [0.5]), method="newtn")
        with self.assertRaisesRegex(ricochet.ProblemError, "nowhere"):
            ricochet.solve("nowhere.hdf5")
        with self.assertRaisesRegex(ValueError, "shape"):
            ricochet.ContactProblem(np.eye(3), [1, 2], [0.5])
        with self.assertRaises(ricochet.ProblemError):
            ricochet.ContactProblem(np.eye(2), [-1, 0], [-0.5])
        with self.assertRaisesRegex(ValueError, "each contact has 2"):
            ricochet.ContactProblem(np.eye(4), [1, 2, 3, 4], [0.5])

    def test_impulses_outlive_the_solution(self):
        impulses = ricochet.solve(ricochet.ContactProblem(np.eye(2), [-1, 0], [0.5])).impulses
        self.assertAlmostEqual(impulses[0], 1.0, 7)


if __name__ == "__main__":
    unittest.main()
