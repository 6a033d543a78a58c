// FCLIB's layout of contact problems.

#include "ricochet/host/contact_hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ricochet/base/error.h"
#include "ricochet/host/hdf5.h"
#include "ricochet/problem/contact_velocity.h"

namespace ricochet::host {
namespace {

using problem::ContactProblem;
using problem::GlobalForm;
using problem::SparseMatrix;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name)
      : name_(name), file_(H5Fopen(kInMemory, H5F_ACC_RDONLY, Memory(bytes)), H5Fclose) {
    if (!file_.ok()) refuse("", "cannot be opened: it is damaged or cut short", "copy it again");
  }

  bool has(const std::string& key) const { return H5Lexists(file_, key.c_str(), H5P_DEFAULT) > 0; }

  std::vector<double> numbers(const std::string& key) const {
    return read<double>(key, H5T_NATIVE_DOUBLE);
  }
  std::vector<int> integers(const std::string& key) const { return read<int>(key, H5T_NATIVE_INT); }

  int integer(const std::string& key) const {
    const std::vector<int> values = integers(key);
    if (values.size() != 1) refuse(key, "must be one number", "write the problem again");
    return values[0];
  }

  Eigen::VectorXd vector(const std::string& key) const {
    const std::vector<double> values = numbers(key);
    return Eigen::Map<const Eigen::VectorXd>(values.data(),
                                             static_cast<Eigen::Index>(values.size()));
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& message,
                           const std::string& remedy) const {
    throw base::InputError(key, message, remedy, {.file = name_, .line_text = {}});
  }

 private:
  template <class T>
  std::vector<T> read(const std::string& key, hid_t type) const {
    const Handle set(H5Dopen2(file_, key.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.ok()) refuse(key, "is missing", "the file needs FCLIB's layout: write it again");
    const Handle space(H5Dget_space(set), H5Sclose);
    const hssize_t count = space.ok() ? H5Sget_simple_extent_npoints(space) : -1;
    if (count < 0) refuse(key, "has no size", "the file is damaged: copy it again");
    // Compression makes data at most about a thousand times smaller; entries that were never
    // written take no room in the file, and would take all of the memory.
    constexpr hsize_t kMostCompressed = 1100;
    const hsize_t stored = H5Dget_storage_size(set);
    if (static_cast<hsize_t>(count) > kMostCompressed * stored) {
      refuse(key, fmt::format("says it has {} numbers, which the file does not hold", count),
             "the file is damaged: write it again");
    }
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      refuse(key, "cannot be read: the file is damaged or cut short", "copy it again");
    }
    return values;
  }

  std::string name_;
  Handle file_;
};

/// nz >= 0: triplets (row i, column p); -1: compressed columns; -2: compressed rows.
SparseMatrix read_matrix(const Reader& reader, const std::string& key, Eigen::Index rows,
                         Eigen::Index columns) {
  const int m = reader.integer(key + "/m");
  const int n = reader.integer(key + "/n");
  if (m != rows || n != columns) {
    reader.refuse(key, fmt::format("is {} x {}, {} x {} is needed", m, n, rows, columns),
                  "sizes must fit the number of contacts and the dimension");
  }
  const int nz = reader.integer(key + "/nz");
  const std::vector<int> p = reader.integers(key + "/p");
  const std::vector<int> i = reader.integers(key + "/i");
  const std::vector<double> x = reader.numbers(key + "/x");
  const auto refuse = [&] {
    reader.refuse(key, "its indices do not fit its size", "write the problem again");
  };
  if (nz < -2) refuse();
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](int row, int column, double value) {
    if (row < 0 || row >= m || column < 0 || column >= n) refuse();
    entries.emplace_back(row, column, value);
  };
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    if (p.size() < count || i.size() < count || x.size() < count) refuse();
    for (std::size_t k = 0; k < count; ++k) add(i[k], p[k], x[k]);
  } else {
    const int lines = nz == -1 ? n : m;
    if (p.size() != static_cast<std::size_t>(lines) + 1 || p.front() != 0) refuse();
    for (std::size_t line = 0; line + 1 < p.size(); ++line) {
      if (p[line + 1] < p[line] || static_cast<std::size_t>(p[line + 1]) > x.size() ||
          static_cast<std::size_t>(p[line + 1]) > i.size()) {
        refuse();
      }
      for (auto k = static_cast<std::size_t>(p[line]); k < static_cast<std::size_t>(p[line + 1]);
           ++k) {
        const int at = static_cast<int>(line);
        nz == -1 ? add(i[k], at, x[k]) : add(at, i[k], x[k]);
      }
    }
  }
  SparseMatrix matrix(m, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

void write_vector(Writer& writer, const std::string& key, const Eigen::VectorXd& v) {
  writer.numbers(key, v.data(), static_cast<std::size_t>(v.size()));
}

void write_matrix(Writer& writer, const std::string& key, const SparseMatrix& given) {
  SparseMatrix matrix(given);
  matrix.makeCompressed();
  const int count = static_cast<int>(matrix.nonZeros());
  writer.group(key);
  writer.integers(key + "/m", {static_cast<int>(matrix.rows())});
  writer.integers(key + "/n", {static_cast<int>(matrix.cols())});
  writer.integers(key + "/nz", {-1});
  writer.integers(key + "/nzmax", {count});
  writer.integers(key + "/p", {matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.cols() + 1});
  writer.integers(key + "/i", {matrix.innerIndexPtr(), matrix.innerIndexPtr() + count});
  writer.numbers(key + "/x", matrix.valuePtr(), static_cast<std::size_t>(count));
}

}  // namespace

ContactProblem parse_contact_hdf5(std::string_view bytes, const std::string& name) {
  const Silence silence;
  const Reader reader(bytes, name);
  ContactProblem problem;
  problem.title = name;
  if (!reader.has("fclib_local") && !reader.has("fclib_global")) {
    reader.refuse("", "has neither a group fclib_local nor fclib_global",
                  "the file needs FCLIB's layout");
  }
  const bool is_global = reader.has("fclib_global");
  const std::string root = is_global ? "fclib_global" : "fclib_local";
  problem.dim = reader.integer(root + "/spacedim");
  if (problem.dim != 2 && problem.dim != 3) {
    reader.refuse("spacedim", fmt::format("is {}", problem.dim), "must be 2 or 3");
  }
  problem.mu = reader.numbers(root + "/vectors/mu");
  if (is_global) {
    if (reader.has(root + "/G")) {
      reader.refuse("G", "equality constraints are not supported", "eliminate them from M first");
    }
    const Eigen::VectorXd f = reader.vector(root + "/vectors/f");
    problem.matrix = GlobalForm{read_matrix(reader, root + "/M", f.size(), f.size()),
                                read_matrix(reader, root + "/H", f.size(), problem.rows()), f,
                                reader.vector(root + "/vectors/w")};
  } else {
    if (reader.has(root + "/V") || reader.has(root + "/R")) {
      reader.refuse("V", "equality constraints are not supported", "eliminate them from W first");
    }
    problem.matrix = problem::blocks_of(
        read_matrix(reader, root + "/W", problem.rows(), problem.rows()), problem.dim);
    problem.q = reader.vector(root + "/vectors/q");
  }
  check(problem, name);
  return problem;
}

std::string contact_hdf5(const ContactProblem& problem) {
  const Silence silence;
  Writer writer;
  const std::string root = problem.is_global() ? "fclib_global" : "fclib_local";
  writer.group(root);
  writer.integers(root + "/spacedim", {problem.dim});
  writer.group(root + "/info");
  writer.text(root + "/info/title", problem.title);
  writer.text(root + "/info/description", "");
  writer.text(root + "/info/math_info", "");
  writer.group(root + "/vectors");
  writer.numbers(root + "/vectors/mu", problem.mu.data(), problem.mu.size());
  if (const auto* global = std::get_if<GlobalForm>(&problem.matrix)) {
    write_matrix(writer, root + "/M", global->M);
    write_matrix(writer, root + "/H", global->H);
    write_vector(writer, root + "/vectors/f", global->f);
    write_vector(writer, root + "/vectors/w", global->w);
  } else {
    problem::ContactVelocity velocity(problem);
    write_matrix(writer, root + "/W", scalars_of(velocity.local().W));
    write_vector(writer, root + "/vectors/q", problem.q);
  }
  return writer.bytes();
}

}  // namespace ricochet::host
