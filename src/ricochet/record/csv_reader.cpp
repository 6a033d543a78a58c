#include "ricochet/record/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::record {
namespace {

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

double scaled(double value, int power) {
  if (power == 0 || value == 0.0) return value;
  if (power > 0) {
    return power < 23 ? value * kPowers[static_cast<std::size_t>(power)]
                      : value * std::pow(10.0, power);
  }
  if (power > -23) return value / kPowers[static_cast<std::size_t>(-power)];
  // Tiny numbers in two steps: 1e-320 has no power of ten of its own.
  return value / kPowers[22] * std::pow(10.0, power + 22);
}

bool take_word(std::string_view& text, double sign, double& value) {
  if (text.substr(0, 3) == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (text.substr(0, 3) == "inf") {
    value = sign * std::numeric_limits<double>::infinity();
  } else {
    return false;
  }
  text.remove_prefix(3);
  return true;
}

}  // namespace

bool take_number(std::string_view& text, double& value) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at < end && *at == '-';
  if (negative || (at < end && *at == '+')) ++at;
  constexpr std::uint64_t kFull = 1'000'000'000'000'000'000ULL;  // more digits change nothing
  std::uint64_t digits = 0;
  int power = 0;
  const char* const first = at;
  for (; at < end && is_digit(*at); ++at) {
    if (digits < kFull)
      digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    else
      ++power;
  }
  std::size_t count = static_cast<std::size_t>(at - first);
  if (at < end && *at == '.') {
    const char* const point = ++at;
    for (; at < end && is_digit(*at); ++at) {
      if (digits >= kFull) continue;
      digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
      --power;
    }
    count += static_cast<std::size_t>(at - point);
  }
  if (count == 0) {
    text.remove_prefix(static_cast<std::size_t>(first - text.data()));
    return take_word(text, negative ? -1.0 : 1.0, value);
  }
  if (at + 1 < end && (*at == 'e' || *at == 'E')) {
    const char* e = at + 1;
    const bool down = *e == '-';
    if (down || *e == '+') ++e;
    int exponent = 0;
    const char* const begin = e;
    for (; e < end && is_digit(*e) && exponent < 100'000; ++e)
      exponent = 10 * exponent + (*e - '0');
    if (e > begin) {
      at = e;
      power += down ? -exponent : exponent;
    }
  }
  value = scaled(static_cast<double>(digits), power);
  if (negative) value = -value;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return true;
}

std::size_t CsvReader::read_header(std::string_view text, bool is_last) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos && !is_last) return 0;
  std::string_view line = text.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t comma = std::min(line.find(',', begin), line.size());
    columns_.push_back(base::trimmed(line.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  line_ = 1;
  if (columns_.size() < 2 || columns_[0] != "t") {
    throw base::InputError(
        "", fmt::format("{} is no trajectory: its first line does not begin with t,", file_),
        "name a trajectory.csv that ricochet run wrote", {file_, 1, 1, 1, ""});
  }
  return end == std::string_view::npos ? text.size() : end + 1;
}

void CsvReader::want(const std::vector<int>& columns) {
  place_.assign(columns_.size(), -1);
  last_wanted_ = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto column = static_cast<std::size_t>(columns[k]);
    place_[column] = static_cast<int>(k);
    last_wanted_ = std::max(last_wanted_, column);
  }
  row_.assign(columns.size(), 0.0);
}

void CsvReader::fail(std::size_t column, std::string_view rest) const {
  const bool is_missing = rest.empty();
  throw base::InputError("",
                         is_missing ? fmt::format("there is no value for '{}'", columns_[column])
                                    : fmt::format("'{}' is no number, for '{}'",
                                                  rest.substr(0, rest.find(',')), columns_[column]),
                         "the file is damaged or cut short: run the scene again",
                         {file_, static_cast<int>(line_ + 1), 1, 1, ""});
}

void CsvReader::read_row(std::string_view line) {
  for (std::size_t column = 0;; ++column) {
    if (place_[column] >= 0) {
      double value = 0.0;
      const std::string_view before = line;
      if (!take_number(line, value) || (!line.empty() && line[0] != ',' && line[0] != '\r')) {
        fail(column, before);
      }
      row_[static_cast<std::size_t>(place_[column])] = value;
    }
    if (column == last_wanted_) return;
    const void* comma = line.empty() ? nullptr : std::memchr(line.data(), ',', line.size());
    if (comma == nullptr) fail(column + 1, "");
    line.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(comma) - line.data()) + 1);
  }
}

std::size_t CsvReader::read_rows(std::string_view text, bool is_last, const Row& take) {
  std::size_t used = 0;
  while (used < text.size()) {
    const void* end = std::memchr(text.data() + used, '\n', text.size() - used);
    if (end == nullptr && !is_last) break;
    const std::size_t next =
        end == nullptr ? text.size()
                       : static_cast<std::size_t>(static_cast<const char*>(end) - text.data());
    if (next > used) {
      read_row(text.substr(used, next - used));
      take(row_);
    }
    ++line_;
    used = std::min(next + 1, text.size());
  }
  return used;
}

}  // namespace ricochet::record
