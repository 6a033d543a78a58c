#include "ricochet/problem/contact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/base/index.h"

namespace ricochet::problem {
namespace {

using base::index;

[[noreturn]] void refuse(const std::string& file, const std::string& key,
                         const std::string& message, const std::string& remedy) {
  throw base::InputError(key, message, remedy, {.file = file, .line_text = {}});
}

void check_numbers(const std::string& file, const char* key, const double* values,
                   std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    if (std::isfinite(values[k])) continue;
    refuse(file, key,
           fmt::format("entry {} of {} is {}", k + 1, count,
                       std::isnan(values[k]) ? "not a number" : "infinite"),
           "write the problem again from finite data");
  }
}

void check_size(const std::string& file, const char* key, Eigen::Index size, Eigen::Index right) {
  if (size == right) return;
  refuse(file, key, fmt::format("has {} entries, {} are needed", size, right),
         "sizes must fit the number of contacts and the dimension");
}

void check_square(const std::string& file, const char* key, Eigen::Index rows, Eigen::Index columns,
                  Eigen::Index right) {
  if (rows == right && columns == right) return;
  refuse(file, key, fmt::format("is {} x {}, {} x {} is needed", rows, columns, right, right),
         "sizes must fit the number of contacts and the dimension");
}

void check_pushes_back(const std::string& file, const BlockRows& W) {
  for (int i = 0; i < W.rows; ++i) {
    const double* const block = W.block(W.diagonal(i));
    double trace = 0.0;
    for (int c = 0; c < W.dim; ++c) trace += block[c * W.dim + c];
    if (trace > 0.0) continue;
    refuse(file, "W",
           fmt::format("the diagonal block of contact {} has trace {:g}: its impulse moves nothing",
                       i + 1, trace),
           "leave out contacts between bodies that cannot move");
  }
}

/// What the rows of blocks are made of, before they are put together.
struct Builder {
  BlockRows rows;
  std::vector<int> place;  // by block column: its place in the present row, -1: not there

  Builder(int dim, int count) : place(index(count), -1) {
    rows.dim = dim;
    rows.rows = count;
    rows.start.push_back(0);
  }

  double* at(int column) {
    if (place[index(column)] < 0) {
      place[index(column)] = static_cast<int>(rows.column.size());
      rows.column.push_back(column);
      rows.values.resize(rows.values.size() + rows.size(), 0.0);
    }
    return rows.block(index(place[index(column)]));
  }

  void end_row() {
    for (std::size_t k = index(rows.start.back()); k < rows.column.size(); ++k) {
      place[index(rows.column[k])] = -1;
    }
    rows.start.push_back(static_cast<int>(rows.column.size()));
  }
};

/// Columns ascending in each row.
void sort_rows(BlockRows& m) {
  std::vector<int> order;
  std::vector<double> values;
  for (int i = 0; i < m.rows; ++i) {
    const int begin = m.start[index(i)];
    const int end = m.start[index(i) + 1];
    if (std::is_sorted(m.column.begin() + begin, m.column.begin() + end)) continue;
    order.resize(index(end - begin));
    for (int k = begin; k < end; ++k) order[index(k - begin)] = k;
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return m.column[index(a)] < m.column[index(b)]; });
    values.assign(m.block(index(begin)), m.block(index(begin)) + m.size() * order.size());
    std::vector<int> columns;
    for (std::size_t k = 0; k < order.size(); ++k) {
      columns.push_back(m.column[index(order[k])]);
      std::copy_n(values.data() + m.size() * index(order[k] - begin), m.size(),
                  m.block(index(begin) + k));
    }
    std::copy(columns.begin(), columns.end(), m.column.begin() + begin);
  }
}

}  // namespace

BlockRows blocks_of(const SparseMatrix& matrix, int dim) {
  const int count = static_cast<int>(matrix.rows()) / dim;
  const Eigen::SparseMatrix<double, Eigen::RowMajor, int> by_rows(matrix);
  Builder builder(dim, count);
  for (int i = 0; i < count; ++i) {
    builder.at(i);
    for (int a = 0; a < dim; ++a) {
      for (decltype(by_rows)::InnerIterator entry(by_rows, i * dim + a); entry; ++entry) {
        const int column = static_cast<int>(entry.col());
        if (entry.value() != 0.0) {
          builder.at(column / dim)[(column % dim) * dim + a] += entry.value();
        }
      }
    }
    builder.end_row();
  }
  sort_rows(builder.rows);
  return std::move(builder.rows);
}

BlockRows blocks_of(const Eigen::MatrixXd& matrix, int dim) {
  const int count = static_cast<int>(matrix.rows()) / dim;
  Builder builder(dim, count);
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      const auto block = matrix.block(i * dim, j * dim, dim, dim);
      if (i != j && block.isZero(0.0)) continue;
      Eigen::Map<Eigen::MatrixXd>(builder.at(j), dim, dim) = block;
    }
    builder.end_row();
  }
  return std::move(builder.rows);
}

SparseMatrix scalars_of(const BlockRows& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(matrix.values.size());
  const int d = matrix.dim;
  for (int i = 0; i < matrix.rows; ++i) {
    for (int k = matrix.start[index(i)]; k < matrix.start[index(i) + 1]; ++k) {
      const double* const block = matrix.block(index(k));
      for (int e = 0; e < d * d; ++e) {
        entries.emplace_back(i * d + e % d, matrix.column[index(k)] * d + e / d, block[e]);
      }
    }
  }
  SparseMatrix result(matrix.rows * d, matrix.rows * d);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

void multiply(const BlockRows& matrix, const Eigen::VectorXd& x, Eigen::VectorXd& y) {
  const auto work = [&]<int D>() {
    using Block = Eigen::Matrix<double, D, D>;
    using Vector = Eigen::Matrix<double, D, 1>;
    for (int i = 0; i < matrix.rows; ++i) {
      Vector sum = Vector::Zero();
      for (int k = matrix.start[index(i)]; k < matrix.start[index(i) + 1]; ++k) {
        sum += Eigen::Map<const Block>(matrix.block(index(k))) *
               x.segment<D>(D * matrix.column[index(k)]);
      }
      y.segment<D>(D * i) = sum;
    }
  };
  const Eigen::Index size = static_cast<Eigen::Index>(matrix.rows) * matrix.dim;
  if (y.size() < size) y.resize(size);
  matrix.dim == 3 ? work.template operator()<3>() : work.template operator()<2>();
}

void check(const ContactProblem& problem, const std::string& file) {
  if (problem.dim != 2 && problem.dim != 3) {
    refuse(file, "dim", fmt::format("is {}", problem.dim), "contacts are of dimension 2 or 3");
  }
  check_numbers(file, "mu", problem.mu.data(), problem.mu.size());
  for (std::size_t i = 0; i < problem.mu.size(); ++i) {
    if (problem.mu[i] >= 0.0 && problem.mu[i] <= kMostFriction) continue;
    refuse(file, "mu", fmt::format("contact {} has {:g}", i + 1, problem.mu[i]),
           fmt::format("must be >= 0 and at most {:g}: beyond, u_N is lost beside mu |u_T|",
                       kMostFriction));
  }
  const Eigen::Index rows = problem.rows();
  const auto check_vector = [&](const char* key, const Eigen::VectorXd& v, Eigen::Index size) {
    check_size(file, key, v.size(), size);
    check_numbers(file, key, v.data(), static_cast<std::size_t>(v.size()));
  };
  const auto check_sparse = [&](const char* key, const SparseMatrix& m) {
    check_numbers(file, key, m.valuePtr(), static_cast<std::size_t>(m.nonZeros()));
  };
  if (const auto* global = std::get_if<GlobalForm>(&problem.matrix)) {
    check_square(file, "M", global->M.rows(), global->M.cols(), global->H.rows());
    check_size(file, "H", global->H.cols(), rows);
    check_sparse("M", global->M);
    check_sparse("H", global->H);
    check_vector("f", global->f, global->M.rows());
    check_vector("w", global->w, rows);
    return;
  }
  check_vector("q", problem.q, rows);
  if (const auto* dense = std::get_if<Eigen::MatrixXd>(&problem.matrix)) {
    check_square(file, "W", dense->rows(), dense->cols(), rows);
    check_numbers(file, "W", dense->data(), static_cast<std::size_t>(dense->size()));
    check_pushes_back(file, blocks_of(*dense, problem.dim));
  } else {
    const auto& W = std::get<BlockRows>(problem.matrix);
    check_square(file, "W", W.rows * W.dim, W.rows * W.dim, rows);
    check_numbers(file, "W", W.values.data(), W.values.size());
    check_pushes_back(file, W);
  }
}

double count_blocks(const ContactProblem& problem) {
  const double n = problem.contacts();
  if (const auto* blocks = std::get_if<BlockRows>(&problem.matrix)) {
    return static_cast<double>(blocks->blocks());
  }
  if (problem.matrix.index() == 1) return n * n;
  // Contacts meet in the coordinates that M^-1 H joins: count pairs, with repetitions.
  const auto& global = std::get<GlobalForm>(problem.matrix);
  const Eigen::SparseMatrix<double, Eigen::RowMajor, int> H(global.H);
  double pairs = 0.0;
  for (int row = 0; row < H.rows(); ++row) {
    const auto there = static_cast<double>(H.innerVector(row).nonZeros() / problem.dim);
    pairs = std::max(pairs, there * there);
  }
  return std::min(n * n, pairs * static_cast<double>(H.rows()));
}

}  // namespace ricochet::problem
