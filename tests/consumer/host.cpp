// Writes a contact problem to the file that is named, reads it back, and solves it on two threads.

#include <string>

#include "ricochet/host/contact_file.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/problem/contact_generator.h"
#include "ricochet/solve/contact.h"

int main(int argc, char** argv) {
  using namespace ricochet;
  if (argc != 2) return 2;
  const std::string file = argv[1];
  host::write_contact_file(file, problem::generate_contacts({.bodies = 5}));
  const problem::ContactProblem problem = host::read_contact_file(file);
  host::ThreadPool pool(2);
  solve::ContactSettings settings;
  settings.executor = pool.executor();
  Eigen::VectorXd impulses;
  return solve::solve_contacts(problem, settings, impulses).solved() ? 0 : 1;
}
