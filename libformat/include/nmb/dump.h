// Datasets as text: CDL, which ncgen turns back into the same dataset, and JSON
// (spec/format.md, "Data model").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "nmb/bytes.h"
#include "nmb/classic.h"
#include "nmb/metadata.h"
#include "nmb/netcdf_view.h"
#include "nmb/status.h"
#include "nmb/values.h"

namespace nmb {

// Receives text in pieces of at most 64 KiB. After its first failure it gets no more text, and the
// writing function returns that failure.
using TextSink = std::function<Status(std::string_view)>;

// One block as a dataset. The referenced name and metadata must outlive the call.
struct DatasetText {
  std::string_view name;  // the word after "netcdf": a file's name without its ending
  const Metadata& metadata;
  Kind kind;
  std::uint64_t records;
};

// Returns the name of a type in these texts. For a block's own type that differs from a classic one
// only in byte order: the classic name.
NMB_EXPORT std::string type_text(const Metadata& metadata, Type type);
// Returns the text of a text attribute: characters without trailing NULs, or a single string, of
// fixed length without its padding or of variable length ("" if null). nullopt: numbers or several
// strings. kDamaged: a string lies outside the values.
NMB_EXPORT Result<std::optional<std::string>> attribute_text(const Metadata& metadata,
                                                             const Attribute& attribute);
// Returns the text of a number in external form, with the fewest digits that read back the same
// value; "NaN", "Infinity", "-Infinity". type: any classic type except kChar.
NMB_EXPORT std::string number_text(Type type, const std::byte* external);
// Whether a dimension's length can grow.
NMB_EXPORT bool may_grow(const Metadata& metadata, DimId dimension);

// Writes CDL as `ncdump -h` prints it. Numbers have enough digits to read back the same value (NaN
// loses its payload). In names, special characters of CDL follow a backslash; control characters
// and bytes that are not UTF-8 are shown as \%xx, which no program reads back; trailing NULs are
// left out. In strings the same bytes are octal escapes, which ncgen reads back, including trailing
// NULs. Attributes without values appear as "", which ncgen turns into text of one NUL. CDL for
// ncgen cannot express a name with '/' or one that is a keyword of CDL, for example "int". view: of
// this dataset; its names and dimensions are shown, and objects that it leaves out are not.
// nullptr: everything is shown unchanged.
NMB_EXPORT Status write_cdl_header(const DatasetText& dataset, const TextSink& sink,
                                   const NetcdfView* view = nullptr);

// Writes CDL as `ncdump` prints it, or as `ncdump -v` if `only` is given: the header, and the
// values of all variables or one. Values equal to the fill value are `_` (for the 8-bit types only
// if there is a _FillValue). Reads `extent`, the values without the header, as read_hyperslab does.
// Record variables without records have no data entry.
NMB_EXPORT Status write_cdl(const DatasetText& dataset, const ClassicLayout& layout,
                            std::shared_ptr<const ByteSource> extent, std::optional<VarId> only,
                            const TextSink& sink);

// Writes one JSON document in UTF-8 on one line, without a final line feed:
//   {"schema":"nmb/header/1", "name":, "kind":"cdf1|cdf2|cdf5|cdf6", "records":,
//    "dimensions":[{"name":, "length":, "record":true|false}],
//    "attributes":[{"name":, "type":, "values":}],
//    "variables":[{"name":, "type":, "dimensions":[names], "shape":[lengths], "attributes":[...]}]}
// The length of the record dimension is the record count. Integers are exact (up to 64 bits);
// floating values have the fewest digits that read back the same value; NaN, Infinity and -Infinity
// are strings. Values are arrays; char values are one string. In strings, a byte b that is not part
// of valid UTF-8 is U+EF00 + b (U+EF80 to U+EFFF, a private use area); characters of that range are
// encoded byte by byte in the same way, so that all bytes can be recovered. view: as above; "shape"
// has the stored lengths.
NMB_EXPORT Status write_json_header(const DatasetText& dataset, const TextSink& sink,
                                    const NetcdfView* view = nullptr);

enum class ValueFormat : std::uint8_t { kCdl, kJson };

// Writes the values of a hyperslab. kCdl: elements as in write_cdl, one row (the last dimension)
// per line, with a final line feed. kJson: nested arrays, one level per dimension; text as one
// string per row; a scalar without an array; an empty selection as []; no line feed. If values
// cannot be read, the complete values before them are written, with all arrays closed; if there are
// none, nothing is written. kUsage: the selection does not fit the shape.
NMB_EXPORT Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                               std::shared_ptr<const ByteSource> extent, VarId variable,
                               const Hyperslab& slab, ValueFormat format, const TextSink& sink);

}  // namespace nmb
