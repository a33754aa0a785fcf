// What an HDF5 view leaves out of blocks from HDF5 and netCDF-4 (spec/hdf5_view.md, "What is left
// out").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nmb/reader.h"
#include "nmb/status.h"

namespace nmb {

// Why a view leaves an object out: the closed list of the specification, in its order.
enum class LeftOutReason : std::uint8_t {
  kVariableLength,  // values of variable length, or references
  kVirtual,         // a virtual data set
  kElsewhere,       // values in other files
  kPieces,          // compressed pieces, or values in several places of the file
  kUnwritten,       // values of which some were never written, outside of chunks
  kTooLarge,        // more than an HDF5 message, chunk or tree can hold
  kType,            // a datatype that HDF5 cannot write down
  kName,            // a name that HDF5 cannot hold
  kLink,            // a link to an object that the view does not show
  kUserBlock,       // bytes before the HDF5 data
};
inline constexpr std::size_t kLeftOutReasons = 10;

// The reason as tools print it: "variable length".
NMB_EXPORT std::string_view left_out_word(LeftOutReason reason);

struct LeftOut {
  std::string object;  // "variable \"a/b\"", "block \"a\", attribute \"x\""
  LeftOutReason reason = LeftOutReason::kVariableLength;
  std::string why;  // what was found
};

// The objects that a view leaves out: how many, and the first ones.
struct LeftOutList {
  static constexpr std::size_t kFirst = 20;
  std::uint64_t count = 0;
  std::vector<LeftOut> first{};
  void add(const LeftOut& object) {
    if (++count <= kFirst) first.push_back(object);
  }
  // Returns a sentence for each of the first objects, and one that counts the others.
  NMB_EXPORT std::vector<std::string> lines() const;
};

using OnLeftOut = std::function<Status(const LeftOut&)>;

// Visits what a view of the newest generation leaves out, whether the file has a view or not. Makes
// the view in memory, structure by structure, and keeps none of it. Errors: kUnsupported if no view
// of the file is possible, with the reason; kDamaged; kIo; what `visit` returns.
NMB_EXPORT Status for_each_left_out(const ByteSource& file, const OnLeftOut& visit);

}  // namespace nmb
