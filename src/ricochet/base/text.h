#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ricochet::base {

/// The decimal number that is the whole of `text`, independent of the locale; nothing otherwise.
std::optional<double> parse_number(std::string_view text);

/// The candidate that a typing error turns into `name`: least number of insertions, deletions,
/// substitutions and swaps of neighbours. Nothing when even the best one is far off.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

/// "a, b, c", cut after `most` names with a count of the rest.
std::string list_names(std::span<const std::string> names, std::size_t most = 12);

/// `text` without blanks at both ends.
std::string trimmed(std::string_view text);

/// Bytes of the code point that UTF-8 text begins with; 0 when it begins with none.
std::size_t code_point_length(std::string_view text);

/// Columns that UTF-8 text takes on a terminal, one per code point.
int display_width(std::string_view text);

/// `count` code points of UTF-8 text from code point `first`; tabs become single blanks.
std::string slice(std::string_view text, int first, int count);

/// Where UTF-8 text without control characters other than tabs and line ends stops being that: the
/// number of the line, from 1; 0 when all of it is fine.
int first_line_that_is_no_text(std::string_view text);

/// Line `number` (from 1) of `text`, without its line end; empty when there is no such line.
std::string_view line_of(std::string_view text, int number);

/// Words broken into lines of at most 80 columns behind a label.
std::string entry(const std::string& label, const std::string& words);

/// Text whose lines of more than 80 columns are broken at blanks and go on indented.
std::string wrapped(const std::string& text);

/// "6.903 ± 0.004": the bar in one digit, rounded up, and the value as far as it holds.
std::string with_bar(double value, double bar);
/// The bar alone: one digit, rounded up.
std::string rounded_up(double number);

/// "1 step", "2 steps".
std::string counted(long long count, const std::string& noun);

/// "12.3 million", "850".
std::string readable_count(double count);

}  // namespace ricochet::base
