// Undoes filters of chunks with the HDF5 library: those that are part of the library, and those for
// which it finds a plug-in. The library runs in the process `nmb-hdf5 decode`, because the
// parameters of a filter and the bytes of a chunk may be malicious.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/message_fields.h"
#include "wire/failure.h"

namespace nmb::hdf5 {

// A request to the process. The stored bytes and the result are at the beginning of a file in
// memory, which both processes share (kShared, hdf5_server.h): this is faster than a message.
// Without bytes, the process only says whether HDF5 can undo the filter. It answers kBlock with the
// length of the result (u64; 0 if there were no bytes), or kFailure.
struct FilterRequest {
  std::uint32_t filter = 0;  // HDF5's number
  std::vector<std::uint32_t> parameters;
  std::uint64_t most = 0;    // the most bytes that the result may have
  std::uint64_t length = 0;  // number of bytes; set by undo_filter()
};

template <class Fields>
void fields(Fields& all, FilterRequest& request) {
  all(request.filter, request.parameters, request.most, request.length);
}

// Returns whether the HDF5 library can undo a filter, or why not. The answer for a filter is kept.
// Thread-safe. Errors: kUnsupported if the library cannot, or if nmb-hdf5 is not installed; kIo.
Status can_undo_filter(std::uint32_t filter);

// Undoes a filter. Each thread that calls this at the same time has a process of its own. The
// processes stay for later calls. *ended: set to true if the process ended or took too much time;
// the caller should then not try further chunks of the same variable. Errors: kDamaged if HDF5
// cannot undo the filter, or if the process ended; kUnsupported as for can_undo_filter(); kIo also
// if somebody ended the process.
Result<std::vector<std::byte>> undo_filter(const FilterRequest& request,
                                           std::span<const std::byte> bytes, bool* ended);

}  // namespace nmb::hdf5
