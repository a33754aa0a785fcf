// Says what an HDF5 view costs, and which objects of blocks from HDF5 and netCDF-4 it leaves out
// (spec/hdf5_view.md, section 12.9).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/file_reader.h"
#include "wire/failure.h"

namespace nmb {

// The reasons why a view leaves out an object. The specification has the same list.
enum class LeftOutReason : std::uint8_t {
  kVariableLength,  // values of variable length, or references
  kVirtual,         // a virtual data set
  kElsewhere,       // values in other files
  kPieces,          // compressed pieces, or values in several places of the file
  kUnwritten,       // some values outside of chunks were never written
  kTooLarge,        // an object that exceeds a limit of a message, chunk or tree
  kType,            // a datatype that an HDF5 message cannot describe
  kName,            // a name that HDF5 cannot hold
  kLink,            // a link to an object that the view does not show
  kUserBlock,       // bytes before the HDF5 data
  kReference,       // a reference to an object that the view does not show; it is null
};
inline constexpr std::size_t kLeftOutReasons = 11;

// Returns a reason as tools print it, for example "variable length".
NMB_EXPORT std::string_view left_out_word(LeftOutReason reason);

// The kinds of objects that a view leaves out.
enum class LeftOutKind : std::uint8_t {
  kVariable,
  kDatatype,  // a named datatype
  kLink,
  kAttribute,
  kComment,
  kUserBlock,
};
// Returns a kind as tools print it, for example "named datatype".
NMB_EXPORT std::string_view left_out_word(LeftOutKind kind);

struct LeftOut {
  LeftOutKind kind = LeftOutKind::kVariable;
  // The path of the object in the file, without the first slash. For an attribute or a comment, the
  // path of the block, variable or named datatype to which it belongs.
  std::string path{};
  std::string attribute{};  // name of the attribute, only for kAttribute
  LeftOutReason reason = LeftOutReason::kVariableLength;
  std::string why{};  // a sentence without a period
  // Returns the object as text: `variable "a/b"`, `attribute "x" of "a/b"`. Control characters in
  // names are escaped.
  NMB_EXPORT std::string object() const;
};

// The number of objects that a view leaves out, and the first of these objects.
struct LeftOutList {
  static constexpr std::size_t kFirst = 20;
  std::uint64_t count = 0;
  std::vector<LeftOut> first{};
  void add(const LeftOut& object) {
    if (++count <= kFirst) first.push_back(object);
  }
  // Returns a sentence for each of the first objects, and a sentence with the number of the
  // remaining objects.
  NMB_EXPORT std::vector<std::string> lines() const;
};

// The cost of a view.
struct ViewCost {
  std::uint64_t bytes = 0;       // size of the view
  std::uint64_t file_bytes = 0;  // size of the file without the view
  std::uint64_t objects = 0;     // number of dimensions and variables
  // Returns whether the view takes more than 2 % of the file, and more than 1 MiB.
  NMB_EXPORT bool is_large() const;
  // Returns sentences about the size of a large view, and about the time that netCDF-C takes to
  // open a file with many objects, joined by semicolons; "" if there is nothing to say.
  NMB_EXPORT std::string text() const;
};

using OnLeftOut = std::function<Status(const LeftOut&)>;

// Visits the objects that a view of the newest generation leaves out. The file need not have a
// view; if it has one, the options are those of this view. Encodes the view and discards its bytes.
// Errors: kUnsupported if no view of the file is possible, with the reason; kDamaged; kIo; errors
// of `visit`.
NMB_EXPORT Status for_each_left_out(const ByteSource& file, const OnLeftOut& visit);

}  // namespace nmb
