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

// Takes text in pieces of at most 64 KiB. Its first failure is returned to the caller of the
// function that writes; nothing more is passed then.
using TextSink = std::function<Status(std::string_view)>;

// One block as a dataset. What is referred to outlives the call.
struct DatasetText {
  std::string_view name;  // after "netcdf", a file's name without its ending
  const Metadata& metadata;
  Kind kind;
  std::uint64_t records;
};

// The name of a type as these texts have it: of a block's own types that are classic but for the
// order of bytes, the classic name.
NMB_EXPORT std::string type_text(const Metadata& metadata, Type type);
// The text of an attribute that is one: characters without NULs at their end, or one string, of
// fixed length without its padding, or of variable length ("" for a null one). nullopt: numbers,
// several strings. kDamaged: a string that lies outside of the values.
NMB_EXPORT Result<std::optional<std::string>> attribute_text(const Metadata& metadata,
                                                             const Attribute& attribute);
// A number in external form, with the fewest digits that read back the same value; "NaN",
// "Infinity", "-Infinity". type: a classic one but kChar.
NMB_EXPORT std::string number_text(Type type, const std::byte* external);
// Whether a dimension's length is not fixed for good.
NMB_EXPORT bool may_grow(const Metadata& metadata, DimId dimension);

// CDL as `ncdump -h` prints it. Numbers have as many digits as it takes to read back the same value
// (NaN loses its payload). In names what CDL gives a meaning has a backslash before it; control
// characters and bytes that are no UTF-8 are \%xx, which shows them but which no program reads
// back, and NULs at the end are left out. In strings they are octal escapes, which ncgen reads
// back, NULs at the end included. Attributes without values appear as "", which ncgen makes text of
// one NUL. ncgen has no way to write a name with '/' or one that is a word of CDL, as "int".
// view: of this dataset; what it leaves out is left out, names and dimensions are its own. nullptr:
// all is shown as it is.
NMB_EXPORT Status write_cdl_header(const DatasetText& dataset, const TextSink& sink,
                                   const NetcdfView* view = nullptr);

// CDL as `ncdump` prints it, or as `ncdump -v` where `only` is given: the header and the values of
// one variable or all. Values equal to the fill value are `_` (for the 8-bit types only where there
// is a _FillValue). Reads `extent`, the values without the header, as read_hyperslab does. Record
// variables without records have no entry.
NMB_EXPORT Status write_cdl(const DatasetText& dataset, const ClassicLayout& layout,
                            std::shared_ptr<const ByteSource> extent, std::optional<VarId> only,
                            const TextSink& sink);

// One JSON document on one line, without a line feed at its end, in UTF-8:
//   {"schema":"nmb/header/1", "name":, "kind":"cdf1|cdf2|cdf5|cdf6", "records":,
//    "dimensions":[{"name":, "length":, "record":true|false}],
//    "attributes":[{"name":, "type":, "values":}],
//    "variables":[{"name":, "type":, "dimensions":[names], "shape":[lengths], "attributes":[...]}]}
// The length of the record dimension is the record count. Integers are exact (of up to 64 bits);
// floating values have the fewest digits that read back the same; NaN, Infinity and -Infinity are
// strings. Values are arrays, of char one string. A byte b that is no part of valid UTF-8 is U+EF00
// + b in strings (U+EF80 to U+EFFF, a private use area); so are, byte by byte, characters of that
// range themselves, so that every byte can be told from the text.
// view: as above; "shape" has the lengths that are stored.
NMB_EXPORT Status write_json_header(const DatasetText& dataset, const TextSink& sink,
                                    const NetcdfView* view = nullptr);

enum class ValueFormat : std::uint8_t { kCdl, kJson };

// The values of a hyperslab. kCdl: the elements as write_cdl's, one row (the last dimension) from
// line to line, a line feed at the end. kJson: one array a dimension, nested, text as one string a
// row, a scalar without an array, a selection of nothing []; no line feed. Where values cannot be
// read, those ahead of them are written, whole ones, with all arrays closed, or nothing if there
// are none. kUsage: the selection does not fit the shape.
NMB_EXPORT Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                               std::shared_ptr<const ByteSource> extent, VarId variable,
                               const Hyperslab& slab, ValueFormat format, const TextSink& sink);

}  // namespace nmb
