// Encodes the HDF5 view of a generation from the generation's blocks (spec/hdf5_view.md). The same
// blocks always give the same bytes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "encoding/view_output.h"
#include "reader/file_reader.h"
#include "reader/reader_core.h"
#include "superblock/superblock.h"
#include "superblock/view_header.h"
#include "view/hdf5_view.h"
#include "wire/failure.h"

namespace nmb {

struct ViewEncoding {
  std::uint64_t position = 0;  // position at which the view begins, a multiple of 8
  ViewOptions options{};
  // The numbers of the earlier view, which the new view keeps; nullptr if there is no earlier view.
  // When a view is checked, these are its own numbers.
  const ViewNumbers* numbers = nullptr;
  // The maximum number of chunks in the view; a record of a variable is one chunk. If there are
  // more, encode_view() returns kUnsupported.
  std::uint64_t most_chunks = ~std::uint64_t{0};
  // The maximum size of the view in bytes. If the view is larger, encode_view() returns kLimit.
  std::uint64_t most_bytes = ~std::uint64_t{0};
  const std::atomic<bool>* cancel = nullptr;
  // Whether only a copy of the file will get a view (see ValuePlaces::of()).
  bool of_copy = false;
  // Called for each object that the view leaves out.
  OnLeftOut on_left_out{};
};

struct EncodedView {
  std::uint64_t length = 0;               // a multiple of 8
  std::uint64_t extension = 0, root = 0;  // HDF5 addresses
  LostRecords lost_records{};
  // Returns the HDF5 superblock that leads to the view, for a file of `file_length` bytes.
  std::array<std::byte, kHdf5Size> superblock(std::uint64_t file_length) const;
};

// Encodes a view. Reads blocks through `core`, one at a time. If there are blocks of kind 6, all
// blocks are read two to four times, because objects may refer to objects that are written later.
// Only the last pass writes to `sink`. Memory: the children of open groups, 40 bytes for each
// block, one address for each dimension, and 40 bytes for each chunk of one data set. If there are
// blocks of kind 6, also one address for each object, the names of blocks, and the numbers of
// dimensions. Errors: kUnsupported, with the name of the object that a view cannot show; kDamaged;
// kIo, also if the caller cancelled the work. After a failure, the sink may have received some
// bytes.
Result<EncodedView> encode_view(const ReaderCore& core, const ViewEncoding& how, ViewSink& sink);

}  // namespace nmb
