// Writes datasets as text, in CDL or in JSON (spec/format.md, section 2). ncgen can make the
// same dataset from the CDL.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/classic.h"
#include "model/metadata.h"
#include "model/values.h"
#include "netcdf/netcdf_view.h"
#include "wire/bytes.h"
#include "wire/failure.h"

namespace nmb {

// A function that receives text in pieces of at most 64 KiB. If the sink returns a failure, the
// writing function passes no more text to the sink, and returns the failure.
using TextSink = std::function<Status(std::string_view)>;

// A block to write as text. The name and the metadata must outlive the call.
struct DatasetText {
  std::string_view name;  // the word after "netcdf", for example a file's name without its ending
  const Metadata& metadata;
  Kind kind;
  std::uint64_t records;
};

// Returns the name of a type in CDL and JSON. If one of the block's own types differs from a
// classic type only in byte order, the result is the name of the classic type.
NMB_EXPORT std::string type_text(const Metadata& metadata, Type type);
// Returns the text of an attribute that has characters or a single string. The text does not
// include trailing NULs of characters and the padding of a fixed-length string. The text of a null
// string is "". Returns nullopt if the attribute has numbers or several strings. Errors: kDamaged
// if a string lies outside of the attribute's values.
NMB_EXPORT Result<std::optional<std::string>> attribute_text(const Metadata& metadata,
                                                             const Attribute& attribute);
// Returns the text of a number in external form, with the fewest digits from which the same value
// can be read back. Special values are "NaN", "Infinity" and "-Infinity". `type` is any classic
// type except kChar.
NMB_EXPORT std::string number_text(Type type, const std::byte* external);

// The form of values and names in CDL. In both forms, a backslash precedes special characters of
// CDL in names. Control characters of names, and bytes of names that are not UTF-8, are shown as
// \%xx, which no program reads back. Trailing NULs of names are left out. In strings, control
// characters are octal escapes, which ncgen reads back. An attribute without values appears as "".
// From such an attribute, ncgen makes a text that consists of one NUL. CDL for ncgen cannot express
// a name that contains '/' or that is a keyword of CDL, for example "int".
enum class CdlForm : std::uint8_t {
  // Numbers have enough digits to read back the same value (NaN loses its payload). Trailing NULs
  // of strings are kept. Bytes of strings that are not UTF-8 are octal escapes.
  kExact,
  // The form of `ncdump`: at most 7 digits of a float and 15 digits of a double. Trailing NULs of
  // strings are left out. Bytes of strings that are not UTF-8 are written unchanged.
  kNcdump,
};

// Writes the definitions of one dataset as CDL, in the order of `ncdump -h`. If `view` is given, it
// must be a view of this dataset. Only the objects of the view are then written, with the view's
// names and dimensions. If `view` is nullptr, everything is written. The text declares all named
// types that the dataset uses. Errors: kDamaged if the hdf5 section is damaged.
NMB_EXPORT Status write_cdl_header(const DatasetText& dataset, const TextSink& sink,
                                   const NetcdfView* view = nullptr,
                                   CdlForm form = CdlForm::kExact);

// A file to write as text. Each block is a group of this file. The root block is the root group.
struct FileText {
  std::string_view name;  // the word after "netcdf"
  FileBlocks blocks;
  // Returns the view of a block, or nullopt if everything is written.
  std::function<Result<std::optional<NetcdfView>>(std::string_view block, const Dataset& dataset)>
      view;
};

// Writes the definitions of all blocks as one CDL text, as `ncdump -h` writes the groups of a file.
// A block uses the types and dimensions of the blocks above it. Errors: those of the functions in
// `file`; kDamaged.
NMB_EXPORT Status write_cdl_file(const FileText& file, const TextSink& sink, CdlForm form);

// Writes the same definitions as NcML 2.2, the XML form of netCDF-Java. Reals have all digits. NcML
// has no unsigned types: an attribute gets isUnsigned="true", and a variable the attribute
// "_Unsigned". Values of types that NcML lacks are strings in CDL. A list of strings has a
// separator that occurs in none of them. A byte b that XML cannot hold becomes the character
// U+EF00 + b, as in JSON. In a shape, a backslash precedes blanks and backslashes of names. Errors:
// those of write_cdl_header() and write_cdl_file(); kDamaged if a value of variable length is
// damaged.
NMB_EXPORT Status write_ncml_header(const DatasetText& dataset, const TextSink& sink,
                                    const NetcdfView* view = nullptr);
// FileText::name becomes the location of the file. A single dataset has no location.
NMB_EXPORT Status write_ncml_file(const FileText& file, const TextSink& sink);

// Writes CDL as `ncdump` prints it: the header and the values of all variables. If `only` is given,
// writes the values of this variable only, as `ncdump -v` does. Values equal to the fill value are
// written as `_` (for the 8-bit types only if there is a _FillValue). `extent` contains the values
// without the header, in the form that read_hyperslab() reads. A record variable without records
// has no entry in the data section.
NMB_EXPORT Status write_cdl(const DatasetText& dataset, const ClassicLayout& layout,
                            std::shared_ptr<const ByteSource> extent, std::optional<VarId> only,
                            const TextSink& sink);

// Writes one JSON document in UTF-8 on one line, without a final line feed:
//
//   {"schema":"nmb/header/1", "name":, "kind":"cdf1|cdf2|cdf5|cdf6", "records":,
//    "dimensions":[{"name":, "length":, "record":true|false}],
//    "attributes":[{"name":, "type":, "values":}],
//    "variables":[{"name":, "type":, "dimensions":[names], "shape":[lengths], "attributes":[...]}]}
//
// The length of the record dimension is the record count. Integers are exact (up to 64 bits).
// Floating-point values have the fewest digits from which the same value can be read back; NaN,
// Infinity and -Infinity are strings. The values of an attribute are an array; if their type is
// char, they are one string. In strings, a byte b that is not part of valid UTF-8 becomes the
// character U+EF00 + b. The resulting characters are U+EF80 to U+EFFF, which is part of a private
// use area. If a string itself contains a character from U+EF80 to U+EFFF, each byte of this
// character is encoded in the same way. All bytes can therefore be recovered. `view` has the same
// meaning as in write_cdl_header(), but "shape" has the stored lengths.
NMB_EXPORT Status write_json_header(const DatasetText& dataset, const TextSink& sink,
                                    const NetcdfView* view = nullptr);

enum class ValueFormat : std::uint8_t { kCdl, kJson };

// Writes the values of a hyperslab. With kCdl, elements have the same form as in write_cdl(). Each
// line has one row (along the last dimension), and the text ends with a line feed. With kJson,
// values are nested arrays with one level for each dimension. Each row of characters is one string,
// a scalar has no array, an empty selection is [], and the text ends without a line feed. If a
// value cannot be read, only the values before it are written, and all arrays are closed. If no
// value can be written, there is no text. Errors: kUsage if the selection does not fit the shape.
NMB_EXPORT Status write_values(const DatasetText& dataset, const ClassicLayout& layout,
                               std::shared_ptr<const ByteSource> extent, VarId variable,
                               const Hyperslab& slab, ValueFormat format, const TextSink& sink);

}  // namespace nmb
