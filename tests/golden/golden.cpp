#include "golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ricochet::golden {
namespace {

std::string numbers_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    text += fmt::format("{}{:.17g}", text.empty() ? "" : " ", value);
  }
  return text;
}

/// Largest difference of q and u of two ends; infinite where they cannot be compared.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (a.size() != b.size() || a.empty()) return kNone;
  double largest = 0.0;
  for (std::size_t i = 1; i < a.size(); ++i) {
    const double apart = a[i] == b[i] ? 0.0 : std::abs(a[i] - b[i]);
    largest = std::isnan(apart) ? kNone : std::max(largest, apart);
  }
  return largest;
}

bool is_same_end(const Measured& now, const Line& kept, double tolerance) {
  if (now.line.scheme != kept.scheme || now.line.status != kept.status) return false;
  return distance(now.line.last, kept.last) <= tolerance * now.size &&
         std::abs(now.line.last[0] - kept.last[0]) <= tolerance * std::abs(kept.last[0]);
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Line read_line(const std::string& text) {
  const std::vector<std::string> columns = split(text, '\t');
  if (columns.size() != 6) throw std::invalid_argument("not six columns");
  Line line{columns[0], columns[1], columns[2], std::stoll(columns[3]), 0, {}};
  line.hash = std::stoull(columns[4], nullptr, 16);
  for (const std::string& number : split(columns[5], ' ')) {
    line.last.push_back(std::strtod(number.c_str(), nullptr));
  }
  return line;
}

}  // namespace

std::string Run::name() const {
  std::string name = scene;
  if (member > 0) name += fmt::format(" member={}", member);
  for (const std::string& setting : settings) name += " " + setting;
  return backward ? name + " backward" : name;
}

void Hash::add(double number) {
  if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<unsigned char>(bits >> shift));
}

void Hash::add(std::span<const double> numbers) {
  for (const double number : numbers) add(number);
}

Measured measure(const Run& run) {
  Measured found;
  Line& line = found.line;
  Hash hash;
  const Ending ending = make_run(run, [&](const Row& row) {
    ++line.rows;
    line.last = {row.t};
    hash.add(row.t);
    for (const std::span<const double> part : {row.q, row.u}) {
      line.last.insert(line.last.end(), part.begin(), part.end());
      for (const double value : part) found.size = std::max(found.size, std::abs(value));
    }
    for (const std::span<const double> part :
         {row.q, row.u, row.gaps, row.impulses, row.tangential}) {
      hash.add(part);
    }
  });
  line.name = run.name();
  line.scheme = ending.scheme;
  line.status = ending.status;
  line.hash = hash.value();
  return found;
}

std::string compare(const Measured& now, const Line& kept, Likeness likeness) {
  const Line& line = now.line;
  const bool same_end = is_same_end(now, kept, likeness == Likeness::Bits ? 0.0 : kDigits);
  const bool same_way =
      likeness == Likeness::Digits || (line.rows == kept.rows && line.hash == kept.hash);
  if (same_end && same_way) return "";
  const auto told = [](const Line& one) {
    return fmt::format("{}, {}, {} rows, hash {:016x}, end {}", one.scheme, one.status, one.rows,
                       one.hash, numbers_of(one.last));
  };
  return fmt::format("{}\n  now:  {}\n  kept: {}\n  the ends are at most {:.3g} apart, of {:.3g}",
                     line.name, told(line), told(kept), distance(line.last, kept.last), now.size);
}

std::vector<std::string> unmatched(const std::vector<Run>& runs, const std::vector<Line>& lines) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const Run& run : runs) ++counts[run.name()].first;
  for (const Line& line : lines) ++counts[line.name].second;
  std::vector<std::string> words;
  for (const auto& [name, count] : counts) {
    if (count.first == 1 && count.second == 1) continue;
    words.push_back(fmt::format("{}: {} runs, {} lines", name, count.first, count.second));
  }
  return words;
}

std::string platform() {
#if defined(__aarch64__)
  const std::string machine = "aarch64";
#elif defined(__x86_64__)
  const std::string machine = "x86_64";
#elif defined(__wasm32__)
  const std::string machine = "wasm32";
#else
  const std::string machine = "other";
#endif
#if defined(__GLIBC__) && defined(__clang__)
  return machine + "-glibc-clang";
#elif defined(__GLIBC__)
  return machine + "-glibc";
#elif defined(__EMSCRIPTEN__) || defined(__linux__)
  return machine + "-musl";
#elif defined(__APPLE__)
  return machine + "-apple";
#else
  return machine + "-other";
#endif
}

std::string to_text(const std::vector<Line>& lines) {
  std::string text =
      "# Written by `make golden`; CONTRIBUTING.md says when.\n"
      "# run, scheme, status, rows, hash of their numbers, and t, q, u of the last row\n";
#if defined(__GLIBC__)
  text += fmt::format("# glibc {}.{}\n", __GLIBC__, __GLIBC_MINOR__);
#endif
  for (const Line& line : lines) {
    text += fmt::format("{}\t{}\t{}\t{}\t{:016x}\t{}\n", line.name, line.scheme, line.status,
                        line.rows, line.hash, numbers_of(line.last));
  }
  return text;
}

std::vector<Line> read_lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      lines.push_back(read_line(line));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return lines;
}

}  // namespace ricochet::golden
