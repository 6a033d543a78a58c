#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

/// What an engine hands to the judge of the race, and how it is stored.
namespace race {

/// Impulses of one pair in a step, the sum of its points: on body a, from b (-1 - k: wall k).
struct Contact {
  std::int32_t a{0};
  std::int32_t b{0};
  std::array<double, 3> impulse{};  // in space [N s]
};

/// One step that is judged. Places are those at which the engine looked for contacts.
struct Frame {
  std::int32_t step{0};
  std::vector<std::array<double, 3>> places;
  std::vector<std::array<double, 4>> turns;   // quaternions w, x, y, z; none of spheres
  std::vector<std::array<double, 3>> before;  // velocities before the step, and after it
  std::vector<std::array<double, 3>> after;
  std::vector<std::array<double, 3>> spins;  // after
  std::vector<Contact> contacts;
};

/// A run: its steps' times, then frames.
class Writer {
 public:
  explicit Writer(const char* path) : file_(std::fopen(path, "wb")) {
    if (file_ == nullptr) throw std::runtime_error(std::string("cannot write ") + path);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { std::fclose(file_); }

  /// CPU time of a step [s]; where it is judged, its frame comes after.
  void time(int step, double seconds) {
    put(std::int32_t{0});
    put(static_cast<std::int32_t>(step));
    put(seconds);
  }
  void frame(const Frame& frame) {
    put(std::int32_t{1});
    put(frame.step);
    put_all(frame.places);
    put_all(frame.turns);
    put_all(frame.before);
    put_all(frame.after);
    put_all(frame.spins);
    put_all(frame.contacts);
  }

 private:
  template <class T>
  void put(const T& value) {
    std::fwrite(&value, sizeof value, 1, file_);
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put(static_cast<std::int32_t>(values.size()));
    std::fwrite(values.data(), sizeof(T), values.size(), file_);
  }
  std::FILE* file_;
};

/// Reads what a Writer wrote, a step's time or a frame at a time.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) throw std::runtime_error("cannot read " + path);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { std::fclose(file_); }

  /// False at the end. `is_frame` tells which of the two was filled in, beside frame.step.
  bool next(double& seconds, Frame& frame, bool& is_frame) {
    std::int32_t kind = 0;
    if (std::fread(&kind, sizeof kind, 1, file_) != 1) return false;
    is_frame = kind == 1;
    if (!get(frame.step)) return false;
    if (!is_frame) return get(seconds);
    return get_all(frame.places) && get_all(frame.turns) && get_all(frame.before) &&
           get_all(frame.after) && get_all(frame.spins) && get_all(frame.contacts);
  }

 private:
  template <class T>
  bool get(T& value) {
    return std::fread(&value, sizeof value, 1, file_) == 1;
  }
  template <class T>
  bool get_all(std::vector<T>& values) {
    std::int32_t size = 0;
    if (!get(size)) return false;
    values.resize(static_cast<std::size_t>(size));
    return std::fread(values.data(), sizeof(T), values.size(), file_) == values.size();
  }
  std::FILE* file_;
};

/// CPU time of this process [s].
inline double cpu_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace race
