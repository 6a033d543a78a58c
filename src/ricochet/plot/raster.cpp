#include "ricochet/plot/raster.h"

#include <algorithm>
#include <string_view>

#include "ricochet/base/numpy_archive.h"

namespace ricochet::plot {
namespace {

std::string big(std::uint32_t value) {  // the high byte first
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 255U);
  }
  return bytes;
}

std::string chunk(const std::string& kind, const std::string& data) {
  return big(static_cast<std::uint32_t>(data.size())) + kind + data +
         big(base::zip_checksum(kind + data));
}

/// Deflate's own code: bytes, and runs of one byte, which pictures are made of.
class Deflater {
 public:
  std::string pack(const std::string& bytes) {
    out_ = "\x78\x01";
    put(1, 1);  // the last block
    put(1, 2);  // with the fixed code
    for (std::size_t k = 0; k < bytes.size();) {
      std::size_t run = 0;
      while (k > 0 && k + run < bytes.size() && bytes[k + run] == bytes[k - 1] && run < 258) ++run;
      if (run >= 3) {
        put_run(run);
        k += run;
      } else {
        put_symbol(static_cast<unsigned char>(bytes[k++]));
      }
    }
    put_symbol(256);
    if (filled_ > 0) put(0, 8 - filled_);
    std::uint32_t a = 1, b = 0;  // Adler's sum
    for (const char c : bytes) {
      a = (a + static_cast<unsigned char>(c)) % 65521U;
      b = (b + a) % 65521U;
    }
    return out_ + big(b << 16U | a);
  }

 private:
  /// `count` bits, the low one first.
  void put(unsigned bits, int count) {
    for (int k = 0; k < count; ++k, bits >>= 1U) {
      byte_ |= (bits & 1U) << static_cast<unsigned>(filled_);
      if (++filled_ < 8) continue;
      out_ += static_cast<char>(byte_);
      byte_ = 0;
      filled_ = 0;
    }
  }
  void put_reversed(unsigned bits, int count) {
    for (int k = count - 1; k >= 0; --k) put(bits >> static_cast<unsigned>(k) & 1U, 1);
  }
  void put_symbol(unsigned symbol) {
    if (symbol < 144) return put_reversed(0x30 + symbol, 8);
    if (symbol < 256) return put_reversed(0x190 + symbol - 144, 9);
    if (symbol < 280) return put_reversed(symbol - 256, 7);
    put_reversed(0xC0 + symbol - 280, 8);
  }
  void put_run(std::size_t run) {
    unsigned symbol = 285;
    unsigned extra = 0, bits = 0;
    if (run < 258) {
      const auto length = static_cast<unsigned>(run) - 3;
      while (length >> (bits + 3U) != 0) ++bits;  // lengths come in groups of 4 << bits
      symbol = length < 8 ? 257 + length : 257 + 4 * (bits + 1) + (length >> bits) - 4;
      if (length < 8) bits = 0;
      extra = length & ((1U << bits) - 1U);
    }
    put_symbol(symbol);
    put(extra, static_cast<int>(bits));
    put_reversed(0, 5);  // the byte before
  }

  std::string out_;
  unsigned byte_{0};
  int filled_{0};
};

std::string in_base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    std::uint32_t three = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - k);
    for (std::size_t j = 0; j < 3; ++j) {
      three = three << 8U | (j < count ? static_cast<unsigned char>(bytes[k + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kLetters[three >> (18U - 6U * static_cast<unsigned>(j)) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string Raster::data_address(const std::vector<Colour>& palette) const {
  std::string colours, opacities, lines;
  for (const Colour& colour : palette) {
    colours += big(colour.rgb).substr(1);
    opacities += static_cast<char>(colour.opacity);
  }
  for (int y = 0; y < height_; ++y) {
    lines += '\0';  // no filter
    const auto begin = points_.begin() + static_cast<std::ptrdiff_t>(y) * width_;
    lines.append(begin, begin + width_);
  }
  std::string head =
      big(static_cast<std::uint32_t>(width_)) + big(static_cast<std::uint32_t>(height_));
  head += std::string("\x08\x03\0\0\0", 5);  // 8 bits, with a palette
  const std::string png = "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("PLTE", colours) +
                          chunk("tRNS", opacities) + chunk("IDAT", Deflater().pack(lines)) +
                          chunk("IEND", "");
  return "data:image/png;base64," + in_base64(png);
}

}  // namespace ricochet::plot
