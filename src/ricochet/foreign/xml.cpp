#include "ricochet/foreign/xml.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <string_view>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::foreign {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_letter_of_name(char c) {
  const auto code = static_cast<unsigned char>(c);
  return std::isalnum(code) != 0 || code >= 0x80 || c == '_' || c == '-' || c == '.' || c == ':';
}

/// A code point in UTF-8; nothing where XML has none.
std::string utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  const bool is_control = code < 0x20 && code != 0x9 && code != 0xA && code != 0xD;
  if (is_surrogate || is_control || code > 0x10FFFF) return {};
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) {
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  }
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)),
          byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
}

class XmlReader {
 public:
  XmlReader(const std::string& name, std::string_view text, int file)
      : name_(name), text_(text), file_(file) {}

  Element read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ += 3;  // mark of UTF-8
    skip_between();
    if (at_ >= text_.size()) fail(here(), "has no element", "give a URDF or MJCF file");
    if (text_[at_] != '<') fail(here(), "is no XML: text before the first tag", "remove it");
    Element root = read_element(1);
    skip_between();
    if (at_ < text_.size()) {
      fail(here(), fmt::format("goes on after the end of <{}>", root.name), "remove what follows");
    }
    return root;
  }

 private:
  static constexpr int kDeepest = 500;

  Place here() const { return place_of(at_); }
  Place place_of(std::size_t at) const {
    if (counted_line_ != line_) {
      counted_line_ = line_;
      counted_ = line_start_;
      width_ = 0;
    }
    width_ += at >= counted_ ? base::display_width(text_.substr(counted_, at - counted_))
                             : -base::display_width(text_.substr(at, counted_ - at));
    counted_ = at;
    return {file_, line_, 1 + width_};
  }

  [[noreturn]] void fail(const Place& place, const std::string& message,
                         const std::string& remedy) const {
    throw base::InputError(
        "XML", message, remedy,
        {name_, place.line, place.column, 1, std::string(base::line_of(text_, place.line))});
  }

  /// To the byte `to`, counting lines.
  void go(std::size_t to) {
    for (; at_ < to; ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_start_ = at_ + 1;
    }
  }

  void skip_blanks() {
    std::size_t to = at_;
    while (to < text_.size() && is_blank(text_[to])) ++to;
    go(to);
  }

  /// Over `open` ... `close` where it begins here.
  bool skip_over(std::string_view open, std::string_view close, const char* what) {
    if (!text_.substr(at_).starts_with(open)) return false;
    const std::size_t end = text_.find(close, at_ + open.size());
    if (end == std::string_view::npos) {
      fail(here(), fmt::format("{} is not closed", what),
           fmt::format("write {} at its end", close));
    }
    go(end + close.size());
    return true;
  }

  bool skip_comment() { return skip_over("<!--", "-->", "a comment"); }
  bool skip_instruction() { return skip_over("<?", "?>", "an instruction"); }

  bool skip_document_type() {
    if (!text_.substr(at_).starts_with("<!DOCTYPE")) return false;
    const std::size_t end = text_.find_first_of("[>", at_);
    if (end == std::string_view::npos || text_[end] == '[') {
      fail(here(), "has a document type with declarations, which are not read", "remove it");
    }
    go(end + 1);
    return true;
  }

  void skip_between() {
    do skip_blanks();
    while (skip_comment() || skip_instruction() || skip_document_type());
  }

  std::string read_name(const char* what) {
    std::size_t to = at_;
    while (to < text_.size() && is_letter_of_name(text_[to])) ++to;
    const char first = to > at_ ? text_[at_] : '-';
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-' || first == '.') {
      fail(here(), fmt::format("{} is wanted here", what), "close quotes and tags before");
    }
    std::string name(text_.substr(at_, to - at_));
    go(to);
    return name;
  }

  /// The character that an entity stands for, at its &.
  std::string read_entity(std::size_t end_of_value) {
    const Place place = here();
    const std::size_t end = text_.find(';', at_);
    const std::string_view word = end < end_of_value ? text_.substr(at_ + 1, end - at_ - 1) : "";
    std::string made;
    if (word == "lt") made = "<";
    if (word == "gt") made = ">";
    if (word == "amp") made = "&";
    if (word == "quot") made = "\"";
    if (word == "apos") made = "'";
    if (word.size() > 1 && word.size() < 10 && word[0] == '#') {
      const bool is_hex = word[1] == 'x';
      const std::string digits(word.substr(is_hex ? 2 : 1));
      const char* known = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
      if (!digits.empty() && digits.find_first_not_of(known) == std::string::npos) {
        made = utf8(static_cast<std::uint32_t>(std::stoul(digits, nullptr, is_hex ? 16 : 10)));
      }
    }
    if (made.empty())
      fail(place, "an & that stands for nothing", "write &amp; for the sign itself");
    go(end + 1);
    return made;
  }

  Attribute read_attribute() {
    Attribute made;
    made.place = here();
    made.name = read_name("the name of an attribute");
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '=') {
      fail(made.place, fmt::format("'{}' has no value", made.name),
           fmt::format("write {}=\"...\"", made.name));
    }
    go(at_ + 1);
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end =
        quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail(made.place, fmt::format("the value of '{}' is not in quotes", made.name),
           fmt::format("write {}=\"...\"", made.name));
    }
    go(at_ + 1);
    while (at_ < end) {
      if (text_[at_] == '<') {
        fail(made.place, fmt::format("the value of '{}' has a <", made.name),
             "close its quotes, or write &lt;");
      }
      if (text_[at_] == '&') {
        made.value += read_entity(end);
        continue;
      }
      made.value += is_blank(text_[at_]) ? ' ' : text_[at_];
      go(at_ + 1);
    }
    go(end + 1);
    return made;
  }

  Element read_element(int depth) {
    Element made;
    made.place = here();
    if (depth > kDeepest)
      fail(made.place, "elements are more than 500 deep",
           "close tags before, or join bodies to fewer");
    go(at_ + 1);
    made.name = read_name("the name of an element");
    while (true) {
      const bool has_blank = at_ < text_.size() && is_blank(text_[at_]);
      skip_blanks();
      if (text_.substr(at_).starts_with("/>")) {
        go(at_ + 2);
        return made;
      }
      if (text_.substr(at_).starts_with(">")) break;
      if (at_ >= text_.size() || !has_blank) {
        fail(made.place, fmt::format("the tag <{}> does not end", made.name), "write > or />");
      }
      Attribute next = read_attribute();
      for (const Attribute& other : made.attributes) {
        if (other.name != next.name) continue;
        fail(next.place, fmt::format("'{}' stands twice in <{}>", next.name, made.name),
             "remove one");
      }
      made.attributes.push_back(std::move(next));
    }
    go(at_ + 1);
    read_inside(made, depth);
    return made;
  }

  void read_inside(Element& made, int depth) {
    while (true) {
      const std::size_t tag = text_.find('<', at_);
      if (tag == std::string_view::npos) {
        fail(made.place, fmt::format("<{}> is not closed", made.name),
             fmt::format("write </{}> at its end", made.name));
      }
      go(tag);
      if (skip_comment() || skip_instruction()) continue;
      if (skip_over("<![CDATA[", "]]>", "a piece of text")) continue;
      if (!text_.substr(at_).starts_with("</")) {
        made.children.push_back(read_element(depth + 1));
        continue;
      }
      const Place place = here();
      go(at_ + 2);
      const std::string name = read_name("the name of an element");
      if (name != made.name) {
        fail(place, fmt::format("</{}> closes <{}> of line {}", name, made.name, made.place.line),
             fmt::format("write </{}> before it", made.name));
      }
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '>') {
        fail(place, fmt::format("the tag </{}> does not end", name), "write >");
      }
      go(at_ + 1);
      return;
    }
  }

  const std::string& name_;
  std::string_view text_;
  int file_;
  std::size_t at_{0};
  mutable int counted_line_{0};  // how wide the line is up to a byte of it
  mutable std::size_t counted_{0};
  mutable int width_{0};
  int line_{1};
  std::size_t line_start_{0};
};

}  // namespace

Element read_xml(const std::string& name, const std::string& text, int file) {
  const int line = base::first_line_that_is_no_text(text);
  if (line > 0) {
    throw base::InputError("XML", "is no UTF-8 text", "give a URDF or MJCF file in UTF-8",
                           {name, line, 0, 1, ""});
  }
  return XmlReader(name, text, file).read();
}

}  // namespace ricochet::foreign
