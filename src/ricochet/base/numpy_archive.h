#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricochet::base {

/// An array of numpy: a header, then the numbers, the first index fastest where `shape` has two.
std::string numpy_array(std::span<const double> values, const std::string& shape);

/// A zip archive of files, by name and bytes, that are stored as they are: what numpy.load reads.
/// At most 4 GB, and 65,535 files.
std::string stored_archive(const std::vector<std::pair<std::string, std::string>>& files);

/// CRC-32, the checksum of the zip and PNG formats.
std::uint32_t zip_checksum(std::string_view bytes);

}  // namespace ricochet::base
