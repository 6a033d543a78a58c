#include "ricochet/base/numpy_archive.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace ricochet::base {
namespace {

std::string little(std::size_t value, int size) {  // the low byte first
  std::string result;
  for (int k = 0; k < size; ++k, value >>= 8U) result += static_cast<char>(value & 255U);
  return result;
}

}  // namespace

std::uint32_t zip_checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t k = 0; k < made.size(); ++k) {
      made[k] = k;
      for (int bit = 0; bit < 8; ++bit) {
        made[k] = made[k] >> 1U ^ (0xEDB88320U & (0U - (made[k] & 1U)));
      }
    }
    return made;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = crc >> 8U ^ table[(crc ^ static_cast<unsigned char>(c)) & 255U];
  return ~crc;
}

std::string numpy_array(std::span<const double> values, const std::string& shape) {
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': {}, }}", shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\x00';
  bytes += little(header.size(), 2) + header;
  bytes.append(reinterpret_cast<const char*>(values.data()), sizeof(double) * values.size());
  return bytes;
}

std::string stored_archive(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  std::string directory;
  for (const auto& [name, bytes] : files) {
    const std::string common = little(20, 2) + little(0, 4) + little(0, 2) + little(0x21, 2) +
                               little(zip_checksum(bytes), 4) + little(bytes.size(), 4) +
                               little(bytes.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory += "PK\x01\x02" + little(20, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(archive.size(), 4) + name;
    archive += "PK\x03\x04" + common + name + bytes;
  }
  const std::size_t begin = archive.size();
  archive += directory;
  archive += "PK\x05\x06" + little(0, 4) + little(files.size(), 2) + little(files.size(), 2) +
             little(directory.size(), 4) + little(begin, 4) + little(0, 2);
  return archive;
}

}  // namespace ricochet::base
