#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ricochet::base {

/// A value of JSON, to be written: null, a truth value, a number, a text, a list, or an object
/// whose keys keep the order in which they came. A new one is null, and becomes an object by the
/// first key, a list by the first `push_back`.
class Json {
 public:
  struct Member;

  Json();
  Json(std::nullptr_t);
  Json(bool value);
  template <std::integral T>
  Json(T value);
  Json(double value);  // written as null where it is not finite
  Json(std::string value);
  Json(const char* value);
  template <class T>
  Json(const std::vector<T>& values);
  template <std::size_t N>
  Json(const std::array<double, N>& values);
  /// {{"key", value}, ...}
  Json(std::initializer_list<Member> members);

  static Json list();
  static Json object();

  Json& operator[](std::string_view key);              // made where it is not there
  const Json& operator[](std::string_view key) const;  // null where it is not there
  bool contains(std::string_view key) const;
  const std::vector<Member>& members() const;  // of an object
  void push_back(Json value);
  const std::string& text() const;  // of a text

  friend bool operator==(const Json& a, const Json& b);

  /// Each member and entry on a line of its own, two spaces deeper than what holds it.
  std::string pretty() const;
  /// All in one line, without spaces.
  std::string compact() const;

 private:
  using List = std::vector<Json>;
  using Object = std::vector<Member>;
  static constexpr int kCompact = -1;
  void write(int depth, std::string& out) const;
  template <class Items, class WriteItem>
  static void write_items(const Items& items, char open, char close, int depth, std::string& out,
                          const WriteItem& write_item);

  std::variant<std::nullptr_t, bool, long long, double, std::string, List, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
  friend bool operator==(const Member& a, const Member& b) = default;
};

// Here a member is complete.
inline Json::Json() = default;
inline Json::Json(std::nullptr_t) {}
inline Json::Json(bool value) : value_(value) {}
template <std::integral T>
Json::Json(T value) : value_(static_cast<long long>(value)) {}
template <class T>
Json::Json(const std::vector<T>& values) : value_(List(values.begin(), values.end())) {}
template <std::size_t N>
Json::Json(const std::array<double, N>& values) : value_(List(values.begin(), values.end())) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}

}  // namespace ricochet::base
