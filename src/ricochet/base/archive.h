#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ricochet::base {

/// Numbers, words and lists as bytes, and back, in one description of both ways: what is written by
/// `archive(x)` is read by it in the same order. For processes of one machine type.
class Archive {
 public:
  Archive() = default;  // writes
  explicit Archive(std::string bytes) : bytes_(std::move(bytes)), reads_(true) {}

  const std::string& bytes() const { return bytes_; }

  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(T& number) {
    if (reads_) {
      if (at_ + sizeof(T) <= bytes_.size()) std::memcpy(&number, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    } else {
      bytes_.append(reinterpret_cast<const char*>(&number), sizeof(T));
    }
  }
  void operator()(std::string& words) {
    auto length = static_cast<std::uint64_t>(words.size());
    (*this)(length);
    if (reads_) {
      const auto size = static_cast<std::size_t>(length);
      words = at_ <= bytes_.size() ? bytes_.substr(at_, size) : "";
      at_ += size;
    } else {
      bytes_ += words;
    }
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    auto size = static_cast<std::uint64_t>(list.size());
    (*this)(size);
    if (reads_) list.resize(static_cast<std::size_t>(size));
    for (T& one : list) (*this)(one);
  }
  /// Of a type that says how: void visit(Archive&).
  template <class T>
  requires std::is_class_v<T>
  void operator()(T& one) { one.visit(*this); }
  template <class First, class... Others>
  requires(sizeof...(Others) > 0) void operator()(First& first, Others&... others) {
    (*this)(first);
    (*this)(others...);
  }

 private:
  std::string bytes_;
  bool reads_{false};
  std::size_t at_{0};
};

}  // namespace ricochet::base
