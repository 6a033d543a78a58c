#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricochet::record {

/// A number at the beginning of `text`, which is moved on behind it; NaN and infinities as words.
/// To an ulp or two, several times faster than the exact conversion: for pictures, not for
/// restarts. False when there is none.
bool take_number(std::string_view& text, double& value);

/// Reads a trajectory piece by piece, in bounded memory. Only the columns wanted are converted.
class CsvReader {
 public:
  using Row = std::function<void(std::span<const double>)>;

  /// `file` is for messages.
  explicit CsvReader(std::string file) : file_(std::move(file)) {}

  /// Takes in the header at the beginning of `text`; returns the bytes used, 0 when it is not
  /// whole.
  std::size_t read_header(std::string_view text, bool is_last);
  const std::vector<std::string>& columns() const { return columns_; }

  /// What a row consists of: columns by their numbers, in any order.
  void want(const std::vector<int>& columns);

  /// Takes in the whole lines of `text` and returns the bytes used; the rest is to be given again
  /// with what follows it. `is_last`: a line need not end. Throws base::InputError.
  std::size_t read_rows(std::string_view text, bool is_last, const Row& take);

  long long rows() const { return line_ - 1; }

 private:
  void read_row(std::string_view line);
  [[noreturn]] void fail(std::size_t column, std::string_view rest) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<int> place_;  // of each column in a row; -1: not wanted
  std::size_t last_wanted_{0};
  std::vector<double> row_;
  long long line_{0};
};

}  // namespace ricochet::record
