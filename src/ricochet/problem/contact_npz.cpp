#include "ricochet/problem/contact_npz.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>

#include "ricochet/base/error.h"
#include "ricochet/base/numpy_archive.h"
#include "ricochet/base/text.h"
#include "ricochet/problem/contact_velocity.h"

namespace ricochet::problem {
namespace {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;  // by rows
};

class Archive {
 public:
  Archive(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  /// All arrays, by name without ".npy".
  std::map<std::string, Array> arrays() {
    std::map<std::string, Array> result;
    std::size_t at = central_directory();
    while (at + 46 <= bytes_.size() && number(at, 4) == 0x02014b50U) {
      const std::size_t name_size = number(at + 28, 2);
      const std::string entry(part(at + 46, name_size));
      if (number(at + 10, 2) != 0) {
        refuse(fmt::format("{} is compressed", entry), "save it with numpy.savez instead");
      }
      const std::size_t local = number(at + 42, 4);
      const std::size_t begin = local + 30 + number(local + 26, 2) + number(local + 28, 2);
      const std::string key = entry.substr(0, entry.find(".npy"));
      result[key] = array(part(begin, number(at + 24, 4)), entry);
      at += 46 + name_size + number(at + 30, 2) + number(at + 32, 2);
    }
    return result;
  }

  [[noreturn]] void refuse(const std::string& message, const std::string& remedy) const {
    throw base::InputError("", message, remedy, {.file = name_, .line_text = {}});
  }

 private:
  std::string_view part(std::size_t begin, std::size_t size) const {
    if (begin > bytes_.size() || size > bytes_.size() - begin) {
      refuse("the archive is cut short", "copy or write it again");
    }
    return bytes_.substr(begin, size);
  }

  std::size_t number(std::size_t at, std::size_t size) const {  // the low byte first
    const std::string_view raw = part(at, size);
    std::size_t value = 0;
    for (std::size_t k = size; k-- > 0;) value = value << 8U | static_cast<unsigned char>(raw[k]);
    return value;
  }

  std::size_t central_directory() const {
    for (std::size_t at = bytes_.size() < 22 ? 0 : bytes_.size() - 22; at > 0; --at) {
      if (number(at, 4) == 0x06054b50U) return number(at + 16, 4);
    }
    refuse("the archive has no directory", "it is cut short or not an .npz file: write it again");
  }

  Array array(std::string_view raw, const std::string& entry) const {
    if (raw.size() < 10 || raw.substr(0, 6) != "\x93NUMPY") {
      refuse(fmt::format("{} is not a numpy array", entry), "write it with numpy.savez");
    }
    const bool is_first = raw[6] == 1;
    const auto data = static_cast<std::size_t>(raw.data() - bytes_.data());
    const std::size_t length = number(data + 8, is_first ? 2 : 4);
    const std::string_view header = part(data + (is_first ? 10 : 12), length);
    if (header.find("'<f8'") == std::string_view::npos) {
      refuse(fmt::format("{} does not hold numbers of 64 bits", entry),
             "save arrays of dtype float64");
    }
    Array result;
    result.shape = shape_of(header, entry);
    std::size_t count = 1;
    for (const std::size_t size : result.shape) {
      if (size > 0 && count > raw.size() / size) refuse(entry + " is cut short", "write it again");
      count *= size;
    }
    const std::size_t begin = data + (is_first ? 10 : 12) + length;
    if (begin - data + 8 * count > raw.size()) refuse(entry + " is cut short", "write it again");
    result.values.resize(count);
    std::memcpy(result.values.data(), part(begin, 8 * count).data(), 8 * count);
    const bool by_columns = header.find("'fortran_order': True") != std::string_view::npos;
    if (by_columns && result.shape.size() == 2) transpose(result);
    return result;
  }

  std::vector<std::size_t> shape_of(std::string_view header, const std::string& entry) const {
    const std::size_t open = header.find('(');
    const std::size_t close = header.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      refuse(fmt::format("{} has no shape", entry), "write it with numpy.savez");
    }
    std::vector<std::size_t> shape;
    std::string_view rest = header.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const auto size = base::parse_number(base::trimmed(rest.substr(0, comma)));
      if (size && (*size < 0 || *size > 1e9)) refuse(entry + " has a bad shape", "write it again");
      if (size) shape.push_back(static_cast<std::size_t>(*size));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return shape;
  }

  static void transpose(Array& array) {
    const std::vector<double> old = array.values;
    const std::size_t rows = array.shape[0];
    const std::size_t columns = array.shape[1];
    for (std::size_t k = 0; k < old.size(); ++k) {
      array.values[(k % rows) * columns + k / rows] = old[k];
    }
  }

  std::string_view bytes_;
  std::string name_;
};

/// Where component k of (N, T1, T2) lies in (T1, T2, N).
constexpr Eigen::Index kPlace[3] = {2, 0, 1};

Eigen::Index place(Eigen::Index k) { return 3 * (k / 3) + kPlace[k % 3]; }

std::string array_bytes(const Eigen::MatrixXd& values, const std::string& shape) {
  return base::numpy_array({values.data(), static_cast<std::size_t>(values.size())}, shape);
}

}  // namespace

ContactProblem parse_contact_npz(std::string_view bytes, const std::string& name) {
  Archive archive(bytes, name);
  const std::map<std::string, Array> arrays = archive.arrays();
  for (const char* key : {"G", "g", "mus"}) {
    if (arrays.contains(key)) continue;
    archive.refuse(fmt::format("there is no array {}", key), "the archive needs G, g and mus");
  }
  const Array& G = arrays.at("G");
  const Array& g = arrays.at("g");
  const Array& mus = arrays.at("mus");
  ContactProblem problem;
  problem.title = name;
  problem.mu = mus.values;
  const Eigen::Index rows = problem.rows();
  const auto size = static_cast<std::size_t>(rows);
  if (G.shape != std::vector<std::size_t>{size, size} || g.values.size() != size) {
    archive.refuse(
        fmt::format("G and g must have {} rows for {} contacts", rows, mus.values.size()),
        "three components per contact are needed");
  }
  Eigen::MatrixXd W(rows, rows);
  problem.q.resize(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    problem.q[r] = g.values[static_cast<std::size_t>(place(r))];
    for (Eigen::Index c = 0; c < rows; ++c) {
      W(r, c) = G.values[static_cast<std::size_t>(place(r) * rows + place(c))];
    }
  }
  problem.matrix = std::move(W);
  check(problem, name);
  return problem;
}

std::string contact_npz(const ContactProblem& problem) {
  if (problem.dim != 3) {
    throw base::InputError("", "an .npz archive holds problems of dimension 3 only",
                           "write .dat or .hdf5");
  }
  ContactVelocity velocity(problem);
  const LocalProblem local = velocity.local();
  const Eigen::MatrixXd W(scalars_of(local.W));
  Eigen::MatrixXd G(W.rows(), W.cols());
  Eigen::VectorXd g(W.rows());
  for (Eigen::Index r = 0; r < W.rows(); ++r) {
    g[place(r)] = local.q[r];
    for (Eigen::Index c = 0; c < W.cols(); ++c) G(place(r), place(c)) = W(r, c);
  }
  const Eigen::VectorXd mus =
      Eigen::Map<const Eigen::VectorXd>(problem.mu.data(), problem.contacts());
  const auto vector_shape = [](Eigen::Index size) { return fmt::format("({},)", size); };
  return base::stored_archive({{"G.npy", array_bytes(G, fmt::format("({0}, {0})", G.rows()))},
                               {"g.npy", array_bytes(g, vector_shape(g.size()))},
                               {"mus.npy", array_bytes(mus, vector_shape(mus.size()))}});
}

}  // namespace ricochet::problem
