#include "ricochet/problem/contact_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::problem {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

/// Words of a text, one after the other, with the line each is on.
class Words {
 public:
  Words(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  bool at_end() {
    skip_blanks();
    return at_ >= text_.size();
  }

  std::string_view next(const char* what) {
    if (at_end())
      refuse(fmt::format("the file ends where {} should be", what),
             "the file is cut short: copy or write it again");
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  double number(const char* what) {
    const std::string_view word = next(what);
    if (const std::optional<double> value = base::parse_number(word)) return *value;
    refuse(fmt::format("{}: '{}' is not a number", what, word.substr(0, 40)),
           "this is not the text form of a contact problem, or it is damaged");
  }

  int whole(const char* what, int least, int most) {
    const double value = number(what);
    if (value >= least && value <= most && value == std::floor(value)) {
      return static_cast<int>(value);
    }
    refuse(fmt::format("{} is {:g}, not a whole number from {} to {}", what, value, least, most),
           "this is not the text form of a contact problem, or it is damaged");
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  std::size_t count_rest() const {
    std::size_t count = 0;
    bool inside = false;
    for (std::size_t k = at_; k < text_.size(); ++k) {
      const bool blank = is_blank(text_[k]);
      if (!blank && !inside) ++count;
      inside = !blank;
    }
    return count;
  }

  /// Bytes not read yet: a bound of what can be announced.
  std::size_t rest() const { return text_.size() - at_; }

  [[noreturn]] void refuse(const std::string& message, const std::string& remedy) const {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<long>(std::min(at_, text_.size())), '\n');
    throw base::InputError("", message, remedy,
                           {.file = name_, .line = static_cast<int>(line), .line_text = {}});
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_{0};
};

constexpr int kMost = 100'000'000;

struct Size {
  int rows{0};
  int columns{0};
};

/// A text cannot hold more numbers than half its bytes: refused before anything is reserved.
void check_announced(const Words& words, double numbers) {
  if (2.0 * numbers <= static_cast<double>(words.rest()) + 2.0) return;
  words.refuse(fmt::format("{:.0f} numbers are announced, the file is too short for them", numbers),
               "the file is cut short: copy or write it again");
}

Triplets read_dense(Words& words, Size size) {
  words.whole("the number of rows", size.rows, size.rows);
  words.whole("the number of columns", size.columns, size.columns);
  check_announced(words, static_cast<double>(size.rows) * size.columns);
  Triplets entries;
  for (int column = 0; column < size.columns; ++column) {
    for (int row = 0; row < size.rows; ++row) {
      const double value = words.number("an entry of the matrix");
      if (value != 0.0) entries.emplace_back(row, column, value);
    }
  }
  return entries;
}

std::vector<int> read_ends(Words& words, int count, int last, const char* what) {
  check_announced(words, count);
  std::vector<int> ends{0};
  for (int k = 0; k < count; ++k) ends.push_back(words.whole(what, ends.back(), last));
  return ends;
}

Triplets read_blocks(Words& words, Size size) {
  const int blocks = words.whole("the number of blocks", 0, kMost);
  const int rows = words.whole("the number of block rows", 0, size.rows);
  const int columns = words.whole("the number of block columns", 0, size.columns);
  const std::vector<int> row_ends = read_ends(words, rows, size.rows, "the end of a block row");
  const std::vector<int> column_ends =
      read_ends(words, columns, size.columns, "the end of a block column");
  const int filled1 = words.whole("filled1", 0, rows + 1);
  const int filled2 = words.whole("filled2", blocks, kMost);
  check_announced(words, static_cast<double>(filled1) + filled2);
  std::vector<int> start;
  for (int k = 0; k < filled1; ++k) start.push_back(words.whole("a row pointer", 0, filled2));
  std::vector<int> column_of;
  for (int k = 0; k < filled2; ++k) {
    column_of.push_back(words.whole("a block column", 0, columns - 1));
  }
  Triplets entries;
  for (std::size_t row = 0; row + 1 < start.size(); ++row) {
    for (int k = start[row]; k < start[row + 1]; ++k) {
      words.whole("the number of a block", k, k);
      const auto column = static_cast<std::size_t>(column_of[static_cast<std::size_t>(k)]);
      for (int c = column_ends[column]; c < column_ends[column + 1]; ++c) {
        for (int r = row_ends[row]; r < row_ends[row + 1]; ++r) {
          const double value = words.number("an entry of a block");
          if (value != 0.0) entries.emplace_back(r, c, value);
        }
      }
    }
  }
  return entries;
}

/// "ROWS-by-COLUMNS, nzmax: N nnz: N, ...".
int read_count(Words& words) {
  while (words.next("nnz:") != "nnz:") {
  }
  std::string_view word = words.next("the number of entries");
  if (word.ends_with(',')) word.remove_suffix(1);
  const std::optional<double> count = base::parse_number(word);
  if (!count || *count < 0 || *count > kMost) {
    words.refuse("the number of entries is missing after nnz:", "write the problem again");
  }
  return static_cast<int>(*count);
}

Triplets read_printed(Words& words, Size size) {
  words.whole("the origin of the matrix", 0, 10);
  words.skip_line();
  if (words.next("the name of the sparse format") != "CSparse") {
    words.refuse("a matrix of storage 2 must begin with a line 'CSparse ...'",
                 "write the problem again");
  }
  words.skip_line();
  const bool is_triplet = words.next("the size of the matrix") == "triplet:";
  const int count = read_count(words);
  words.skip_line();
  Triplets entries;
  int column = 0;
  while (static_cast<int>(entries.size()) < count) {
    std::string_view word = words.next("an entry of the matrix");
    if (word == "col") {
      column = words.whole("a column", 0, size.columns - 1);
      words.skip_line();
      continue;
    }
    const std::optional<double> row = base::parse_number(word);
    if (!row || *row < 0 || *row >= size.rows || column >= size.columns) {
      words.refuse(fmt::format("'{}' is not the row of an entry", word.substr(0, 40)),
                   "the matrix is damaged: write the problem again");
    }
    if (is_triplet) column = words.whole("a column", 0, size.columns - 1);
    if (words.next("a colon") != ":") words.refuse("a colon is missing", "write it again");
    entries.emplace_back(static_cast<int>(*row), column, words.number("an entry of the matrix"));
  }
  return entries;
}

SparseMatrix read_matrix(Words& words) {
  const int storage = words.whole("the storage of the matrix", 0, 2);
  const Size size{words.whole("the number of rows", 0, kMost),
                  words.whole("the number of columns", 0, kMost)};
  const Triplets entries = storage == 0   ? read_dense(words, size)
                           : storage == 1 ? read_blocks(words, size)
                                          : read_printed(words, size);
  SparseMatrix matrix(size.rows, size.columns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

Eigen::VectorXd read_vector(Words& words, Eigen::Index size, const char* what) {
  check_announced(words, static_cast<double>(size));
  Eigen::VectorXd result(size);
  for (double& value : result) value = words.number(what);
  return result;
}

bool announces_global(const std::string& name) {
  const std::size_t slash = name.find_last_of('/');
  std::string stem = slash == std::string::npos ? name : name.substr(slash + 1);
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return stem.starts_with("gfc");
}

void append_vector(std::string& text, std::span<const double> values) {
  for (const double value : values) text += fmt::format(" {:.17g}", value);
  text += '\n';
}

std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

void append_dense(std::string& text, const Eigen::MatrixXd& m) {
  text += fmt::format("0\n{}\n{}\n{} {}\n", m.rows(), m.cols(), m.rows(), m.cols());
  for (Eigen::Index c = 0; c < m.cols(); ++c) {
    append_vector(text, {m.data() + c * m.rows(), static_cast<std::size_t>(m.rows())});
  }
}

void append_blocks(std::string& text, const BlockRows& m) {
  text += fmt::format("1\n{}\n{}\n{}\n{}\n{}\n", m.rows * m.dim, m.rows * m.dim, m.blocks(), m.rows,
                      m.rows);
  for (int side = 0; side < 2; ++side) {
    for (int i = 1; i <= m.rows; ++i) text += fmt::format("{} ", i * m.dim);
    text += '\n';
  }
  text += fmt::format("{}\n{}\n", m.rows + 1, m.blocks());
  for (const int start : m.start) text += fmt::format("{} ", start);
  text += '\n';
  for (const int column : m.column) text += fmt::format("{} ", column);
  text += '\n';
  for (std::size_t k = 0; k < m.blocks(); ++k) {
    text += fmt::format("{}\n", k);
    append_vector(text, {m.block(k), m.size()});
  }
}

}  // namespace

ContactProblem parse_contact_text(std::string_view text, const std::string& name) {
  Words words(text, name);
  ContactProblem problem;
  problem.title = name;
  problem.dim = words.whole("the dimension", 2, 3);
  const int contacts = words.whole("the number of contacts", 0, kMost / 3);
  const SparseMatrix first = read_matrix(words);
  const Eigen::Index rows = static_cast<Eigen::Index>(problem.dim) * contacts;
  const std::size_t rest_of_local = static_cast<std::size_t>(rows + contacts);
  const bool is_global = announces_global(name) || first.rows() != rows ||
                         words.count_rest() > rest_of_local + 1;  // a flag may come last
  if (is_global) {
    GlobalForm form;
    form.M = first;
    form.H = read_matrix(words);
    form.f = read_vector(words, form.M.rows(), "an entry of f");
    form.w = read_vector(words, rows, "an entry of w");
    problem.matrix = std::move(form);
  } else {
    problem.matrix = blocks_of(first, problem.dim);
    problem.q = read_vector(words, rows, "an entry of q");
  }
  const Eigen::VectorXd mu = read_vector(words, contacts, "a coefficient of friction");
  problem.mu.assign(mu.begin(), mu.end());
  check(problem, name);
  return problem;
}

std::string contact_text(const ContactProblem& problem) {
  std::string text = fmt::format("{}\n{}\n", problem.dim, problem.contacts());
  if (const auto* global = std::get_if<GlobalForm>(&problem.matrix)) {
    append_dense(text, Eigen::MatrixXd(global->M));
    append_dense(text, Eigen::MatrixXd(global->H));
    append_vector(text, span_of(global->f));
    append_vector(text, span_of(global->w));
  } else {
    if (const auto* blocks = std::get_if<BlockRows>(&problem.matrix)) {
      append_blocks(text, *blocks);
    } else {
      append_dense(text, std::get<Eigen::MatrixXd>(problem.matrix));
    }
    append_vector(text, span_of(problem.q));
  }
  append_vector(text, problem.mu);
  return text;
}

}  // namespace ricochet::problem
