// Encodes and decodes the header of an HDF5 view, which states the generation that the view shows
// (spec/hdf5_view.md, section 12.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "superblock/superblock.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

inline constexpr std::uint16_t kViewVersion = 1;

// The numbers of dimensions in a view (spec/hdf5_view.md, section 12.10). Each source has its own
// range of numbers.
struct ViewNumbers {
  struct Row {
    std::uint32_t order = 0;  // order of creation of the source's first block
    std::uint32_t first = 0;  // number of the source's first dimension
    friend bool operator==(const Row&, const Row&) = default;
  };
  static constexpr std::size_t kRowSize = 8;

  std::vector<Row> rows;   // ascending by order
  std::uint32_t next = 0;  // first number that no source has had

  // Returns the rows as the view stores them.
  std::vector<std::byte> table() const;
};

struct ViewHeader {
  static constexpr std::size_t kSize = 64;

  Digest file_id;
  std::uint64_t position = 0;              // position of this header
  std::uint64_t generation = 0;            // generation that the view shows
  bool dimensions = true, copies = false;  // as in ViewOptions
  std::uint32_t next_number = 0;           // ViewNumbers::next
  std::uint32_t numbered_sources = 0;      // number of rows in ViewNumbers
  std::uint64_t numbers_sum = 0;           // checksum of the rows; 0 if there are none

  static constexpr std::uint32_t kNoDimensions = 1, kCopies = 2;  // flags

  std::array<std::byte, kSize> encode() const;
  // Returns the version of a view that begins with these bytes, or 0 if no view does.
  static std::uint16_t version_of(std::span<const std::byte> first_bytes);
  // Decodes a header of version kViewVersion.
  static ViewHeader decode(std::span<const std::byte> bytes);
  // Reads the header of the superblock's view. Returns nullopt if there is no view, or the version
  // of its header is unknown. Errors: kDamaged (R-HV-2); kIo.
  static Result<std::optional<ViewHeader>> read(const ByteSource& file,
                                                const Superblock& superblock);
  // Sets the three fields about numbers.
  void set_numbers(const ViewNumbers& numbers);
  // Reads the numbers of the view at `view`. This object must be the header of that view. Errors:
  // kDamaged (R-HV-6); kIo.
  Result<ViewNumbers> read_numbers(const ByteSource& file, const Place& view) const;
};

// Returns whether the file has a view of the superblock's generation: one with an HDF5 superblock
// whose end-of-file address is the generation's file length.
bool view_is_newest(const Superblock& superblock);

}  // namespace nmb
