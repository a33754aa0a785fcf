// Decodes classic netCDF headers. First reads the header by its grammar, then checks the positions
// of all variables together. Rule ids are explained in spec/classic_header.md.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/classic.h"
#include "model/classic_grammar.h"
#include "model/extension_codec.h"
#include "model/name_rules.h"
#include "wire/checked.h"
#include "wire/cursor.h"
#include "wire/grow_array.h"
#include "wire/joined_text.h"

namespace nmb {

namespace {

using classic::kMaxOffset;
using classic::padded;

// The largest number of objects for which memory is reserved before they are read. The file may
// state a larger count, which may be wrong.
constexpr std::uint64_t kMostReserved = 1 << 20;

std::string number(std::uint64_t value) { return std::to_string(value); }

class ClassicDecoder {
 public:
  ClassicDecoder(const ByteSource& source, const DecodeOptions& options, Metadata room)
      : source_(source), options_(options), cursor_(source, "R-CH-2") {
    room.clear();
    header_.metadata = std::move(room);
  }

  Result<ClassicHeader> decode() {
    if (read_all() && check_all()) return std::move(header_);
    // Some names have not been compared yet, and one of them may be a duplicate that lies before
    // the failure in the header.
    if (!header_.metadata.settle_names().ok()) found_duplicate_ = true;
    return std::move(failure_);
  }
  // Returns whether a duplicate name ended decoding. Decoding may have gone beyond the duplicate.
  bool found_duplicate() const { return found_duplicate_; }

 private:
  // Facts about a variable for the checks that need all variables.
  struct VariableExtent {
    std::uint64_t begin_field;
    std::uint64_t bytes;  // size of the values without padding; for a record variable, size of the
                          // values in one record
  };

  bool fail(const char* rule, std::uint64_t offset, std::string message) {
    failure_ = Status(Code::kDamaged, source_.name(), offset, rule, std::move(message));
    return false;
  }
  bool fail(const char* rule, std::uint64_t offset, const std::string& object,
            const std::string& found, const std::string& expected) {
    return fail(rule, offset, object + ": found " + found + ", expected " + expected);
  }
  // Reports a failure of Metadata: a duplicate name or an exceeded limit.
  bool fail_with(const Status& status, std::uint64_t offset) {
    found_duplicate_ = status.code() == Code::kExists;
    if (found_duplicate_) return fail("R-CH-12", offset, status.message());
    failure_ = Status(status.code(), source_.name(), offset, {}, status.message());
    return false;
  }
  // Counts a remark. Calls the functions that return its texts only if the remark is kept.
  template <class Object, class Found, class Expected>
  void remark(const char* rule, std::uint64_t offset, Object object, Found found,
              Expected expected) {
    if (header_.remark_count < ClassicHeader::kMaxRemarks)
      header_.remarks.push_back({rule, offset, object(), found(), expected()});
    ++header_.remark_count;
  }
  std::string variable_text(VarId id) const {
    return "variable " + in_quotes(header_.metadata.variable(id).name);
  }

  // Returns the next `count` bytes. If fewer are left, sets failure_ and returns nullptr.
  const std::byte* peek(std::uint64_t count) {
    const std::byte* bytes = cursor_.peek(count);
    if (!bytes) failure_ = cursor_.status();
    return bytes;
  }
  // Reports that fewer than `count` bytes are left.
  bool cut(std::uint64_t count) {
    (void)cursor_.peek(count);
    failure_ = cursor_.status();
    return false;
  }
  std::uint64_t count_at(const std::byte* bytes) const {
    return widths_.count == 8 ? load_be<std::uint64_t>(bytes) : load_be<std::uint32_t>(bytes);
  }

  bool read_all() {
    return read_magic() && read_numrecs() && (kind_ != Kind::kExtended || read_sections()) &&
           read_dimensions() && read_attributes(kGlobal) && read_variables();
  }

  bool read_magic() {
    std::uint32_t magic = 0;
    if (cursor_.remaining() >= 4) {
      const std::byte* bytes = peek(4);
      if (!bytes) return false;
      magic = load_be<std::uint32_t>(bytes);
    }
    const std::uint32_t version = magic & 0xFF;
    // A body of a block may have kind 6, a file may not.
    const bool has_kind =
        version == 1 || version == 2 || version == 5 || (version == 6 && !options_.values_follow);
    if (magic >> 8 != 0x434446 || !has_kind) {
      failure_ = Status(Code::kUnknownKind, source_.name(), 0, "R-CH-1",
                        "found no magic of a classic file, expected CDF and 1, 2 or 5");
      return false;
    }
    kind_ = static_cast<Kind>(version);
    widths_ = classic::widths(kind_);
    header_.layout.kind = kind_;
    cursor_.skip(4);
    return true;
  }

  bool read_numrecs() {
    const std::byte* bytes = peek(widths_.count);
    if (!bytes) return false;
    numrecs_ = count_at(bytes);
    cursor_.skip(widths_.count);
    return true;
  }

  // Reads the sections that follow the header in a body of kind 6. The sections are read first,
  // because the header depends on them.
  bool read_sections() {
    const std::byte* bytes = peek(widths_.count);
    if (!bytes) return false;
    told_length_ = count_at(bytes);
    const std::uint64_t at = cursor_.position();
    cursor_.skip(widths_.count);
    if (told_length_ < cursor_.position() || told_length_ > source_.size() - source_.size() % 8)
      return fail("R-XB-1", at, "header", "length " + number(told_length_),
                  "at most the " + number(source_.size()) + " bytes of the body");
    const std::uint64_t begin = round_up(told_length_, 8);
    if (source_.size() % 8 != 0)
      return fail("R-XB-1", source_.size(), "body", number(source_.size()) + " bytes",
                  "a multiple of 8");
    std::vector<std::byte> sections(source_.size() - told_length_);
    failure_ = source_.read_at(told_length_, sections);
    if (!failure_.ok()) return false;
    const std::uint64_t padding = begin - told_length_;
    for (std::uint64_t i = 0; i < padding; ++i)
      if (sections[i] != std::byte{0})
        return fail("R-XB-1", told_length_ + i, "padding of the header", "a byte other than 0",
                    "0");
    Result<Extension> decoded = decode_sections(std::span(sections).subspan(padding));
    if (!decoded.ok()) {
      const Status status = decoded.status();
      failure_ = Status(status.code(), source_.name(),
                        status.offset() == kNoOffset ? begin : begin + status.offset(),
                        status.rule(), status.message());
      return false;
    }
    extension_ = std::make_shared<const Extension>(std::move(*decoded));
    header_.metadata.set_extension(extension_);
    return true;
  }
  // Checks that the sections refer only to dimensions and variables that exist.
  bool check_ids() {
    const Metadata& metadata = header_.metadata;
    const std::uint64_t at = 4 + widths_.count;
    if (!extension_->unlimited.empty() &&
        extension_->unlimited.back().dimension >= metadata.dimension_count())
      return fail("R-XD-1", at, "dimensions section",
                  "dimension " + number(extension_->unlimited.back().dimension),
                  "less than " + number(metadata.dimension_count()));
    if (!extension_->storage.empty() &&
        extension_->storage.back().variable >= metadata.variable_count())
      return fail("R-XS-1", at, "storage section",
                  "variable " + number(extension_->storage.back().variable),
                  "less than " + number(metadata.variable_count()));
    return true;
  }
  std::string type_text(Type type) const {
    return extension_ ? extension_->types.text(type) : joined_text("type ", type_name(type));
  }

  // Reads the tag and count of a list whose items have at least `smallest` bytes.
  bool read_list(std::uint32_t tag, std::uint64_t smallest, const char* what,
                 std::uint64_t* count) {
    const std::uint64_t start = cursor_.position();
    const std::byte* bytes = peek(widths_.list());
    if (!bytes) return false;
    const std::uint32_t found = load_be<std::uint32_t>(bytes);
    *count = count_at(bytes + 4);
    if (found != tag && (found != classic::kAbsentTag || *count != 0))
      return fail("R-CH-3", start, joined_text("list of ", what),
                  "tag " + number(found) + " with count " + number(*count),
                  "tag " + number(tag) + ", or tag 0 with count 0");
    cursor_.skip(widths_.list());
    if (*count > cursor_.remaining() / smallest)
      return fail("R-CH-4", start + 4, joined_text("list of ", what), "count " + number(*count),
                  "at most " + number(cursor_.remaining() / smallest) + " in " +
                      number(cursor_.remaining()) + " bytes");
    if (found == tag && *count == 0)
      remark(
          "R-CH-19", start, [&] { return joined_text("list of ", what); },
          [&] { return "tag " + number(tag) + " with count 0"; }, [] { return "tag 0"; });
    return true;
  }

  // Loads a name, its padding and the next `more` bytes into the window without moving the
  // position. *name points into the window; *used is the number of bytes from the position to the
  // `more` bytes.
  bool peek_name(const char* what, std::uint64_t more, std::string_view* name,
                 std::uint64_t* used) {
    const std::uint64_t start = cursor_.position();
    const std::byte* bytes = peek(widths_.count);
    if (!bytes) return false;
    const std::uint64_t length = count_at(bytes);
    const std::uint64_t room = cursor_.remaining() - widths_.count;
    if (length == 0) return fail("R-CH-5", start, what, "an empty name", "a name");
    if (length > room || padded(length) > room)
      return fail("R-CH-5", start, what, "a name of " + number(length) + " bytes",
                  "at most the " + number(room) + " bytes that are left");
    *used = widths_.count + padded(length);
    bytes = peek(*used + more);
    if (!bytes) return false;
    *name = {reinterpret_cast<const char*>(bytes) + widths_.count, length};
    return true;
  }

  void check_name(const char* what, std::string_view name) {
    const std::uint64_t place = cursor_.position() + widths_.count;
    if (!check_new_name(what, name).ok())
      remark(
          "R-CH-25", place, [&] { return joined_text(what, " ", in_quotes(name)); },
          [] { return "a name that new objects may not have"; },
          [] { return "1 to 65535 bytes of UTF-8 without '/' or NUL, not . or .."; });
    check_padding(what, name, reinterpret_cast<const std::byte*>(name.data()) + name.size(),
                  place + name.size(), padded(name.size()) - name.size());
  }

  void check_padding(const char* what, std::string_view name, const std::byte* bytes,
                     std::uint64_t offset, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (bytes[i] == std::byte{0}) continue;
      remark(
          "R-CH-6", offset + i, [&] { return joined_text(what, " ", in_quotes(name)); },
          [&] { return "padding of " + number(std::to_integer<unsigned>(bytes[i])); },
          [] { return "0"; });
      return;
    }
  }

  bool read_dimensions() {
    std::uint64_t count;
    if (!read_list(classic::kDimensionTag, widths_.smallest_dimension(), "dimensions", &count))
      return false;
    header_.metadata.reserve(std::min(count, kMostReserved), 0);
    for (; count > 0; --count) {
      std::string_view name;
      std::uint64_t used;
      if (!peek_name("dimension", widths_.count, &name, &used)) return false;
      const std::uint64_t start = cursor_.position();
      const std::uint64_t length =
          count_at(reinterpret_cast<const std::byte*>(name.data()) - widths_.count + used);
      // In a body of kind 6, the dimensions section states which dimension is the record dimension.
      const bool is_record =
          extension_ ? is_record_dimension(header_.metadata.dimension_count()) : length == 0;
      if (extension_ && is_record && length != 0)
        return fail("R-XD-2", start + used, "dimension " + in_quotes(name),
                    "length " + number(length) + " of the record dimension", "0");
      if (length > kMaxOffset)
        return fail("R-CH-7", start + used, "dimension " + in_quotes(name),
                    "length " + number(length), "at most 2^63 - 1");
      if (is_record && header_.metadata.record_dimension())
        return fail(extension_ ? "R-XD-2" : "R-CH-8", start + used, "dimension " + in_quotes(name),
                    "a second record dimension (length 0)", "at most one");
      check_name("dimension", name);
      const Status added = header_.metadata.def_dim(name, is_record ? kUnlimited : length).status();
      if (!added.ok()) return fail_with(added, start + widths_.count);
      cursor_.skip(used + widths_.count);
    }
    return true;
  }

  bool fail_type(std::uint64_t offset, const std::string& object, std::uint32_t code) {
    return fail("R-CH-9", offset, object, "type " + number(code),
                extension_             ? "1 to 11, or a type of the types section"
                : kind_ == Kind::kCdf5 ? "1 to 11"
                                       : "1 to 6");
  }
  bool has_type(std::uint32_t code) const {
    return classic::has_type(kind_, code) ||
           (extension_ && code >= TypeTable::kFirst && code <= 65535 &&
            extension_->types.has(static_cast<Type>(code)));
  }
  // Returns whether the dimensions section declares dimension `id` to be the record dimension.
  bool is_record_dimension(DimId id) const {
    const std::vector<Unlimited>& unlimited = extension_->unlimited;
    const auto found = std::ranges::lower_bound(unlimited, id, {}, &Unlimited::dimension);
    return found != unlimited.end() && found->dimension == id && found->is_record;
  }

  bool read_attributes(VarId owner) {
    std::uint64_t count;
    if (!read_list(classic::kAttributeTag, widths_.smallest_attribute(), "attributes", &count))
      return false;
    for (; count > 0; --count) {
      std::string_view name;
      std::uint64_t used;
      if (!peek_name("attribute", widths_.list(), &name, &used)) return false;
      const std::uint64_t start = cursor_.position();
      const std::byte* bytes = reinterpret_cast<const std::byte*>(name.data()) - widths_.count;
      const std::uint32_t code = load_be<std::uint32_t>(bytes + used);
      const std::uint64_t values = count_at(bytes + used + 4);
      if (!has_type(code)) return fail_type(start + used, "attribute " + in_quotes(name), code);
      const Type type = static_cast<Type>(code);
      const bool is_extended = TypeTable::is_extended(type);
      const std::uint64_t size = is_extended ? extension_->types.value_size(type) : type_size(type);
      const std::uint64_t before = used + widths_.list() + (is_extended ? widths_.count : 0);
      if (cursor_.remaining() < before) return cut(before);
      const std::uint64_t room = cursor_.remaining() - before;
      if (values > room / size || padded(values * size) > room)
        return fail("R-CH-4", start + used + 4, "attribute " + in_quotes(name),
                    number(values) + " values of " + type_text(type),
                    "only as many as fit into the " + number(room) + " bytes that are left");
      std::uint64_t value_bytes = values * size;
      if (is_extended) {
        bytes = peek(before);
        if (!bytes) return false;
        name = {reinterpret_cast<const char*>(bytes) + widths_.count, name.size()};
        const std::uint64_t recorded = count_at(bytes + before - widths_.count);
        const bool heap = extension_->types.needs_heap(type);
        if (recorded > room || padded(recorded) > room || recorded < value_bytes ||
            (!heap && recorded != value_bytes))
          return fail(
              "R-XB-3", start + before - widths_.count, "attribute " + in_quotes(name),
              number(recorded) + " bytes",
              (heap ? "at least " : "") + number(value_bytes) + ", within the bytes that are left");
        value_bytes = recorded;
      }
      const std::uint64_t whole = before + padded(value_bytes);
      bytes = peek(whole);
      if (!bytes) return false;
      name = {reinterpret_cast<const char*>(bytes) + widths_.count, name.size()};
      check_name("attribute", name);
      check_padding("attribute", name, bytes + before + value_bytes, start + before + value_bytes,
                    padded(value_bytes) - value_bytes);
      const std::span<const std::byte> content(bytes + before, value_bytes);
      const Status added =
          is_extended ? header_.metadata.def_extended_att(owner, name, type, values, content)
                      : header_.metadata.def_att(owner, name, type, content);
      if (!added.ok()) return fail_with(added, start + widths_.count);
      cursor_.skip(whole);
    }
    return true;
  }

  bool read_variables() {
    std::uint64_t count;
    if (!read_list(classic::kVariableTag, widths_.smallest_variable(), "variables", &count))
      return false;
    header_.metadata.reserve(0, std::min(count, kMostReserved));
    places_.reserve_more(std::min(count, kMostReserved));
    for (; count > 0; --count) {
      VarId id = 0;
      if (!read_shape(&id) || !read_attributes(id) || !read_place(id)) return false;
    }
    return true;
  }

  // Reads a variable's name and dimensions.
  bool read_shape(VarId* id) {
    std::string_view name;
    std::uint64_t used;
    if (!peek_name("variable", widths_.count, &name, &used)) return false;
    const std::uint64_t start = cursor_.position();
    const std::byte* bytes = reinterpret_cast<const std::byte*>(name.data()) - widths_.count;
    const std::uint64_t rank = count_at(bytes + used);
    const std::uint64_t before = used + widths_.count;
    const std::uint64_t room = cursor_.remaining() - before;
    if (rank > room / widths_.count)
      return fail("R-CH-4", start + used, "variable " + in_quotes(name),
                  number(rank) + " dimensions",
                  "only as many as fit into the " + number(room) + " bytes that are left");
    bytes = peek(before + rank * widths_.count);
    if (!bytes) return false;
    name = {reinterpret_cast<const char*>(bytes) + widths_.count, name.size()};
    const Metadata& metadata = header_.metadata;
    dimensions_.clear();
    for (std::uint64_t i = 0; i < rank; ++i) {
      const std::uint64_t place = before + i * widths_.count;
      const std::uint64_t dimension = count_at(bytes + place);
      if (dimension >= metadata.dimension_count())
        return fail("R-CH-10", start + place, "variable " + in_quotes(name),
                    "dimension id " + number(dimension),
                    "less than " + number(metadata.dimension_count()));
      if (i > 0 && metadata.record_dimension() == dimension)
        return fail("R-CH-11", start + place, "variable " + in_quotes(name),
                    "the record dimension in place " + number(i), "it in place 0 only");
      dimensions_.push_back(static_cast<DimId>(dimension));
    }
    check_name("variable", name);
    const Result<VarId> added = header_.metadata.def_var(name, Type::kByte, dimensions_);
    if (!added.ok()) return fail_with(added.status(), start + widths_.count);
    *id = *added;
    cursor_.skip(before + rank * widths_.count);
    return true;
  }

  // Reads a variable's type, vsize and begin.
  bool read_place(VarId id) {
    const std::uint64_t start = cursor_.position();
    const std::uint64_t length = 4 + widths_.count + widths_.offset;
    const std::byte* bytes = peek(length);
    if (!bytes) return false;
    const std::uint32_t code = load_be<std::uint32_t>(bytes);
    if (!has_type(code)) return fail_type(start, variable_text(id), code);
    header_.metadata.set_type(id, static_cast<Type>(code));
    const std::uint64_t vsize = count_at(bytes + 4);
    const std::uint64_t begin_field = start + 4 + widths_.count;
    const std::byte* begin_bytes = bytes + 4 + widths_.count;
    const std::uint64_t begin = widths_.offset == 8 ? load_be<std::uint64_t>(begin_bytes)
                                                    : load_be<std::uint32_t>(begin_bytes);
    const std::optional<std::uint64_t> slice = header_.metadata.slice_bytes(id);
    if (!slice || *slice > kMaxOffset - 3)
      return fail("R-CH-14", start + 4, variable_text(id), "values of more than 2^63 - 4 bytes",
                  "at most 2^63 - 4 bytes");
    if (extension_ && !check_storage(id, start, vsize, *slice)) return false;
    if (vsize != classic::vsize(kind_, *slice))
      remark(
          "R-CH-20", start + 4, [&] { return variable_text(id); },
          [&] { return "vsize " + number(vsize); },
          [&] { return number(classic::vsize(kind_, *slice)); });
    header_.metadata.set_begin(id, begin);
    places_.push_back({begin_field, *slice});
    cursor_.skip(length);
    return true;
  }

  // Checks a variable's entry in the storage section against the variable's type and shape.
  bool check_storage(VarId id, std::uint64_t at, std::uint64_t vsize, std::uint64_t region) {
    const Variable variable = header_.metadata.variable(id);
    const Storage* const storage = extension_->storage_of(id);
    const auto wrong = [&](const std::string& found, const std::string& expected) {
      return fail("R-XS-2", at, variable_text(id), found, expected);
    };
    if (vsize != padded(region)) return wrong("vsize " + number(vsize), number(padded(region)));
    const bool heap = extension_->types.needs_heap(variable.type);
    if (!storage)
      return !heap || wrong("values of variable length without storage", "a heap for them");
    if (header_.metadata.is_record_variable(id) && storage->kind != StorageKind::kNone)
      return wrong("a heap or chunks for a record variable", "its values in records");
    const std::optional<std::uint64_t> array = header_.metadata.array_bytes(id);
    if (!array) return wrong("more than 2^64 bytes of values", "fewer");
    switch (storage->kind) {
      case StorageKind::kNone:
        return region == 0 || wrong("a region for values that were never written", "no region");
      case StorageKind::kHeap:
        return (heap && region >= *array) ||
               wrong("a heap in a region of " + number(region) + " bytes",
                     "values of variable length, and a region of at least " + number(*array));
      case StorageKind::kChunked:
        break;
    }
    if (heap) return wrong("chunks of values of variable length", "a heap");
    if (storage->chunk.size() != variable.dimensions.size())
      return wrong(number(storage->chunk.size()) + " dimensions of a chunk",
                   number(variable.dimensions.size()));
    std::uint64_t chunks = 1, bytes = extension_->types.value_size(variable.type);
    for (std::size_t i = 0; i < storage->chunk.size(); ++i) {
      const std::uint64_t length = header_.metadata.dimension(variable.dimensions[i]).length;
      if (storage->chunk[i] == 0 || !checked_mul(bytes, storage->chunk[i], &bytes) ||
          bytes > classic::kMaxU32 ||
          !checked_mul(chunks, length / storage->chunk[i] + (length % storage->chunk[i] != 0),
                       &chunks))
        return wrong("a chunk with a length of " + number(storage->chunk[i]),
                     "at least 1, and fewer than 2^32 bytes in all");
    }
    if (region / ChunkRow::kLength < chunks)
      return wrong("a region of " + number(region) + " bytes",
                   "room for a table of " + number(chunks) + " chunks");
    return true;
  }

  bool check_all() {
    ClassicLayout& layout = header_.layout;
    layout.header_length = cursor_.position();
    if (const Status names = header_.metadata.settle_names(); !names.ok())
      return fail_with(names, layout.header_length);
    if (extension_) {
      // In a body of kind 6, the begin of a variable is an offset from the first value of the
      // extent.
      if (layout.header_length != told_length_)
        return fail("R-XB-1", 4 + widths_.count, "header", "length " + number(told_length_),
                    number(layout.header_length));
      layout.header_length = 0;
      if (!check_ids()) return false;
    } else if (!options_.values_follow && source_.size() != layout.header_length) {
      return fail("R-CH-18", layout.header_length, "header",
                  number(source_.size() - layout.header_length) + " bytes after it", "none");
    }
    return check_sizes() && check_begins() && check_overlap() && count_records() && check_end();
  }

  bool check_sizes() {
    if (kind_ == Kind::kCdf5 || kind_ == Kind::kExtended) return true;
    classic::LargeVariables large(kind_);
    for (VarId id = 0; id < places_.size(); ++id)
      large.add(id, places_[id].bytes, header_.metadata.is_record_variable(id));
    const std::optional<VarId> wrong = large.misplaced();
    return !wrong ||
           fail("R-CH-15", places_[*wrong].begin_field - widths_.count, variable_text(*wrong),
                number(places_[*wrong].bytes) + " bytes",
                "at most " + number(classic::largest_variable(kind_)) + " before other variables");
  }

  // Checks each begin separately. Computes the end of fixed-size values, the begin of records, and
  // the record size.
  bool check_begins() {
    const Metadata& metadata = header_.metadata;
    ClassicLayout& layout = header_.layout;
    layout.fixed_end = values_end_ = layout.header_length;
    std::uint64_t record_variables = 0, sum = 0;
    const VariableExtent* single = nullptr;
    for (VarId id = 0; id < places_.size(); ++id) {
      const VariableExtent& place = places_[id];
      const std::uint64_t begin = metadata.begin(id);
      if (begin > classic::largest_begin(kind_))
        return fail("R-CH-13", place.begin_field, variable_text(id), "begin " + number(begin),
                    "at most " + number(classic::largest_begin(kind_)));
      if (begin < layout.header_length)
        return fail("R-CH-13", place.begin_field, variable_text(id), "begin " + number(begin),
                    "at least the header's length " + number(layout.header_length));
      if (begin > kMaxOffset - padded(place.bytes))
        return fail("R-CH-14", place.begin_field, variable_text(id),
                    number(place.bytes) + " bytes from " + number(begin) + " on",
                    "an end of at most 2^63 - 1");
      if (metadata.is_record_variable(id)) {
        if (record_variables == 0 || begin < layout.record_begin) layout.record_begin = begin;
        ++record_variables;
        single = &place;
        if (!checked_add(sum, padded(place.bytes), &sum) || sum > kMaxOffset)
          return fail("R-CH-14", place.begin_field, variable_text(id),
                      "a record of more than 2^63 - 1 bytes", "at most 2^63 - 1 bytes");
      } else {
        values_end_ = std::max(values_end_, begin + place.bytes);
        layout.fixed_end = std::max(layout.fixed_end, begin + padded(place.bytes));
      }
    }
    if (record_variables == 0) {
      layout.record_begin = layout.fixed_end;
      return true;
    }
    layout.record_size = record_variables == 1 ? single->bytes : sum;
    // The padding of the last fixed-size value may be missing.
    layout.fixed_end = std::min(layout.fixed_end, std::max(values_end_, layout.record_begin));
    return true;
  }

  // Checks that values do not overlap, that fixed-size values come before the records, and that the
  // values of a record lie within the record size.
  bool check_overlap() {
    const Metadata& metadata = header_.metadata;
    const ClassicLayout& layout = header_.layout;
    std::vector<VarId> order(places_.size());
    std::iota(order.begin(), order.end(), VarId{0});
    const auto before = [&](VarId a, VarId b) {
      return std::pair(metadata.begin(a), a) < std::pair(metadata.begin(b), b);
    };
    if (!std::is_sorted(order.begin(), order.end(), before))
      std::sort(order.begin(), order.end(), before);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const VarId id = order[i];
      const std::uint64_t begin = metadata.begin(id), end = begin + places_[id].bytes;
      if (i > 0) {
        const VarId previous = order[i - 1];
        const std::uint64_t free = metadata.begin(previous) + places_[previous].bytes;
        if (begin < free)
          return fail("R-CH-16", places_[id].begin_field, variable_text(id),
                      "begin " + number(begin) + " among the values of " + variable_text(previous),
                      "at least " + number(free));
      }
      if (layout.record_size == 0) continue;
      if (metadata.is_record_variable(id)) {
        if (end - layout.record_begin > layout.record_size)
          return fail("R-CH-16", places_[id].begin_field, variable_text(id),
                      "values up to byte " + number(end - layout.record_begin) + " of the record",
                      "a record of " + number(layout.record_size) + " bytes");
        record_end_ = end - layout.record_begin;
      } else if (begin >= layout.record_begin) {
        return fail("R-CH-16", places_[id].begin_field, variable_text(id),
                    "begin " + number(begin) + " after the first record",
                    "less than " + number(layout.record_begin));
      }
    }
    remark_order();
    return true;
  }

  // Makes a remark for each begin that differs from the begin that layout_classic() would choose.
  // In bodies of kind 6, values may have any order.
  void remark_order() {
    if (extension_) return;
    const Metadata& metadata = header_.metadata;
    std::uint64_t next_fixed = header_.layout.header_length;
    std::uint64_t next_record = header_.layout.fixed_end;
    for (VarId id = 0; id < places_.size(); ++id) {
      std::uint64_t& next = metadata.is_record_variable(id) ? next_record : next_fixed;
      const std::uint64_t begin = metadata.begin(id);
      if (begin != next)
        remark(
            begin > next ? "R-CH-21" : "R-CH-22", places_[id].begin_field,
            [&] { return variable_text(id); }, [&] { return "begin " + number(begin); },
            [&] { return number(next); });
      next = begin + padded(places_[id].bytes);
    }
  }

  bool count_records() {
    ClassicLayout& layout = header_.layout;
    if (numrecs_ == classic::streaming(kind_)) {
      layout.record_count = RecordCount::kStreaming;
      if (options_.values_follow && layout.record_size > 0 &&
          source_.size() >= layout.record_begin &&
          source_.size() - layout.record_begin >= record_end_)
        layout.records =
            1 + (source_.size() - layout.record_begin - record_end_) / layout.record_size;
      remark(
          "R-CH-24", 4, [] { return ""; }, [] { return "numrecs STREAMING"; },
          [&] { return number(layout.records); });
    } else {
      layout.records = numrecs_;
    }
    std::uint64_t bytes, end;
    if (layout.records > kMaxOffset || !checked_mul(layout.records, layout.record_size, &bytes) ||
        !checked_add(bytes, layout.record_begin, &end) || end > kMaxOffset)
      return fail("R-CH-14", 4, "header",
                  number(layout.records) + " records of " + number(layout.record_size) + " bytes",
                  "an end of at most 2^63 - 1");
    return true;
  }

  bool check_end() {
    const ClassicLayout& layout = header_.layout;
    if (!options_.values_follow) return true;
    const std::uint64_t size = source_.size();
    const bool has_records = layout.records > 0 && layout.record_size > 0;
    if (has_records)
      values_end_ = layout.record_begin + (layout.records - 1) * layout.record_size + record_end_;
    if (size < values_end_)
      return fail("R-CH-17", size,
                  "cut: found " + number(size) + " bytes, expected " + number(values_end_));
    const std::uint64_t padded_end = has_records ? layout.end(layout.records) : layout.fixed_end;
    if (size < padded_end)
      remark(
          "R-CH-17", size, [] { return ""; },
          [&] { return "padding cut after " + number(size) + " bytes"; },
          [&] { return number(padded_end); });
    const std::uint64_t end = layout.end(layout.records);
    if (size > end)
      remark(
          "R-CH-23", end, [] { return ""; },
          [&] { return number(size - end) + " bytes after the last value"; },
          [] { return "none"; });
    return true;
  }

  const ByteSource& source_;
  const DecodeOptions options_;
  Cursor cursor_;
  Status failure_;
  bool found_duplicate_ = false;
  ClassicHeader header_;
  Kind kind_ = Kind::kCdf5;
  std::shared_ptr<const Extension> extension_;  // only for kind 6
  std::uint64_t told_length_ = 0;               // value of the header_length field, only for kind 6
  classic::Widths widths_{};
  std::uint64_t numrecs_ = 0;
  GrowArray<VariableExtent> places_;
  std::vector<DimId> dimensions_;
  std::uint64_t values_end_ = 0;  // end of the fixed-size values, without padding
  std::uint64_t record_end_ = 0;  // end of the values in a record, without padding
};

}  // namespace

std::string HeaderRemark::text() const {
  std::string out = joined_text("at ", offset, ": ");
  if (!object.empty()) out += object + ": ";
  return out + "found " + found + ", expected " + expected + " (" + rule + ")";
}

Result<ClassicHeader> decode_classic_header(const ByteSource& source, const DecodeOptions& options,
                                            Metadata room) {
  ClassicDecoder decoder(source, options, std::move(room));
  Result<ClassicHeader> header = decoder.decode();
  if (!decoder.found_duplicate()) return header;
  // A second pass, which compares each name when it reads it, finds where the duplicate lies.
  Metadata at_once = ClassicHeader().metadata;
  at_once.check_names_at_once();
  return ClassicDecoder(source, options, std::move(at_once)).decode();
}

}  // namespace nmb
