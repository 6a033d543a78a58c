#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The C interface of HDF5, in memory: files are read and written as all others are.
namespace ricochet::host {

/// An HDF5 handle that is closed once.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  bool ok() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

/// HDF5 prints its errors unless told not to; here they become messages.
class Silence {
 public:
  Silence() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_{nullptr};
  void* data_{nullptr};
};

/// HDF5 wants a name for what lies in memory, and refuses one that a file has: this one none can.
inline constexpr const char* kInMemory = "/dev/null/contact-problem";

/// Access to a file that lies in memory; `image`: what is in it already.
class Memory {
 public:
  explicit Memory(std::string_view image = {}) : list_(H5Pcreate(H5P_FILE_ACCESS), H5Pclose) {
    constexpr std::size_t kGrowth = 1U << 16U;  // [bytes] at a time
    H5Pset_fapl_core(list_, kGrowth, 0);
    if (image.empty()) return;
    // HDF5 makes a copy and leaves the bytes as they are, although it does not say const.
    H5Pset_file_image(list_, const_cast<char*>(image.data()), image.size());
  }
  operator hid_t() const { return list_; }

 private:
  Handle list_;
};

/// A new file.
class Writer {
 public:
  Writer() : file_(H5Fcreate(kInMemory, H5F_ACC_TRUNC, H5P_DEFAULT, Memory()), H5Fclose) {
    if (!file_.ok()) fail();
  }

  void group(const std::string& key) {
    const Handle made(H5Gcreate2(file_, key.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Gclose);
    if (!made.ok()) fail();
  }
  void numbers(const std::string& key, const double* values, std::size_t count) {
    write(key, H5T_NATIVE_DOUBLE, values, count);
  }
  /// An array of several dimensions, the last one running fastest.
  void table(const std::string& key, const std::vector<double>& values,
             const std::vector<hsize_t>& sizes) {
    const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                       H5Sclose);
    save(key, H5T_NATIVE_DOUBLE, space, values.data());
  }
  void integers(const std::string& key, const std::vector<int>& values) {
    write(key, H5T_NATIVE_INT, values.data(), values.size());
  }
  void text(const std::string& key, const std::string& words) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, words.size() + 1);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    save(key, type, space, words.c_str());
  }
  std::string bytes() {
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail();
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    if (size < 0) fail();
    std::string all(static_cast<std::size_t>(size), '\0');
    if (H5Fget_file_image(file_, all.data(), all.size()) != size) fail();
    return all;
  }

 private:
  void write(const std::string& key, hid_t type, const void* values, std::size_t count) {
    const hsize_t size = count;
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    save(key, type, space, values);
  }
  void save(const std::string& key, hid_t type, hid_t space, const void* values) {
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how, false);  // the same numbers are the same bytes at any time
    const Handle set(H5Dcreate2(file_, key.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT),
                     H5Dclose);
    if (!set.ok() || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) fail();
  }
  [[noreturn]] static void fail() {
    throw std::runtime_error("HDF5 cannot make a file: there is no memory left");
  }

  Handle file_;
};

}  // namespace ricochet::host
