// Writes an NMB file as HDF5 in two passes over its blocks. The first pass writes objects, links,
// attributes and most values. The second pass writes values that refer to objects, because all
// objects exist by then.
#include "export/hdf5_export.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "client/hdf5_form.h"
#include "export/attributes_out.h"
#include "export/deferred_chunks.h"
#include "export/dimension_scales.h"
#include "export/links_out.h"
#include "export/object_maker.h"
#include "export/values_out.h"
#include "files/spool_file.h"
#include "hdf5_error.h"
#include "import/type_attributes.h"
#include "reader/file_reader.h"
#include "send_message.h"
#include "wire/joined_text.h"
#include "wire/whole_number.h"

namespace nmb::hdf5 {

namespace {

constexpr std::size_t kMostColumns = 64;  // maximum number of data sets that are written together

class Hdf5Export {
 public:
  Hdf5Export(const NamedBlocks& blocks, const Hdf5Form& form, hid_t file, WriteStyle style)
      : blocks_(blocks), form_(form), maker_(blocks, form, file, std::move(style)) {}

  Status write() {
    NMB_TRY(blocks_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      NMB_TRY(define(entry));
      return true;
    }));
    NMB_TRY(link_types());
    NMB_TRY(DimensionScales::list_shared_uses(maker_.file(), shared_uses_));
    // All attributes come before the first value.
    for (const PendingObjects& later : later_) NMB_TRY(write_attributes_later(later));
    for (const PendingObjects& later : later_) NMB_TRY(write_values_later(later));
    return {};
  }

 private:
  // An attribute or a variable that is written in the second pass because its values refer to
  // objects. With WriteStyle::relayout, all variables are written in the second pass.
  struct PendingObject {
    std::uint32_t owner = kGlobal;
    // Index of the attribute; kNoAttribute for the values of a variable.
    std::uint32_t attribute = kNoAttribute;
    haddr_t address = HADDR_UNDEF;  // address of the variable's data set
  };
  struct PendingObjects {
    std::string block;
    std::vector<PendingObject> items;
    bool type_attributes = false;
  };

  // Returns the group of a block, and links the group if it is not linked yet.
  Result<Handle> group_of(ExportSource& source) {
    if (source.name().empty()) return maker_.object_at("/");
    NMB_ASSIGN(const std::string name, c_text(source.name(), "block"));
    std::size_t begin = 0;
    NMB_ASSIGN(Handle group, maker_.object_at("/"));
    // Only hard links are accepted: another link might lead to a group that has its own name, and
    // the definitions of two groups would be merged.
    while (true) {
      const std::size_t slash = name.find('/', begin);
      const bool last = slash == name.npos;
      const std::string part = name.substr(begin, last ? name.npos : slash - begin);
      const htri_t there = H5Lexists(group.get(), part.c_str(), H5P_DEFAULT);
      if (there < 0) return hdf5_failure(object_text("group", name));
      if (there == 0) {
        NMB_ASSIGN(const Handle made, last ? maker_.group(source) : maker_.empty_group(name));
        NMB_TRY(link_object(made.get(), group.get(), part, usual_character_set(part), "group"));
      }
      H5L_info_t info;
      NMB_TRY(check_hdf5(H5Lget_info(group.get(), part.c_str(), &info, H5P_DEFAULT),
                         object_text("group", name)));
      if (info.type != H5L_TYPE_HARD)
        return damaged(object_text("group", name) + ": another link has the group's name");
      const hid_t opened = H5Gopen2(group.get(), part.c_str(), H5P_DEFAULT);
      if (opened < 0)
        return unsupported(object_text("group", name),
                           ": a variable has the same path, and HDF5 cannot have both");
      group = Handle(opened);
      if (last) return group;
      begin = slash + 1;
    }
  }

  Status define(const BlockEntry& entry) {
    NMB_ASSIGN(const std::shared_ptr<ExportSource> source, maker_.block(entry.name));
    NMB_ASSIGN(const Handle group, group_of(*source));
    PendingObjects later{entry.name, {}, false};
    NMB_TRY(define_attributes(*source, kGlobal, group.get(), &later, true));
    NMB_TRY(define_type_attributes(*source, &later));
    std::vector<bool> linked(source->metadata().variable_count(), false);
    const auto on_variable = [&](VarId variable, hid_t data_set) -> Status {
      linked[variable] = true;
      return define_values(*source, variable, data_set, &later);
    };
    if (const Property* links = source->find(Property::Number::kLinks))
      for (const Link& link : links->links) {
        if (link.kind == LinkKind::kVariable && !link.name.empty())
          return damaged(object_text("group", "/" + source->name()) +
                         ": found a name in a link to a variable, expected none");
        NMB_TRY(make_link(link, *source, group.get(), maker_, on_variable));
      }
    NMB_ASSIGN(DimensionScales scales,
               DimensionScales::make(*source, group.get(), form_.dimensions(), &shared_uses_));
    if (source->is_classic()) {
      NMB_TRY(link_types_of(*source));
      NMB_TRY(scales.make_scales());
    }
    for (VarId variable = 0; variable < linked.size(); ++variable) {
      if (linked[variable]) continue;
      Link link;
      link.number = variable;
      if (source->is_classic()) link.name = scales.name_of(variable);
      link.character_set = usual_character_set(source->metadata().variable(variable).name);
      NMB_TRY(make_link(link, *source, group.get(), maker_, on_variable));
    }
    if (source->is_classic()) NMB_TRY(scales.attach());
    NMB_TRY(write_columns_of(*source));
    for (std::size_t i = 0; i < source->types().table().size(); ++i)
      if (!source->types().table()[i].name.empty())
        NMB_TRY(source->types().stored(static_cast<Type>(TypeTable::kFirst + i)).status());
    if (!later.items.empty() || later.type_attributes) later_.push_back(std::move(later));
    return {};
  }

  static Status set_comment(const Property& comment, hid_t object) {
    NMB_ASSIGN(const std::string text,
               c_text({reinterpret_cast<const char*>(comment.bytes.data()), comment.bytes.size()},
                      "comment"));
    return check_hdf5(H5Oset_comment(object, text.c_str()), "comment");
  }

  Status define_comment(const ExportSource& source, std::uint32_t owner, hid_t object) {
    const Property* const comment = source.find(Property::Number::kComment, owner);
    return comment ? set_comment(*comment, object) : Status();
  }

  Status define_type_comment(ExportSource& source, const Property& property) {
    if (!source.types().table().has(property.type) || !TypeTable::is_extended(property.type))
      return damaged("found a comment of a type that does not exist");
    NMB_ASSIGN(const hid_t type, source.types().stored(property.type));
    return set_comment(property, type);
  }

  // Makes the attributes of an object, and writes the values that do not refer to objects.
  Status define_attributes(ExportSource& source, std::uint32_t owner, hid_t object,
                           PendingObjects* later, bool make) {
    Status status = define_comment(source, owner, object);
    std::uint32_t number = 0;
    const auto define = [&](const Attribute& attribute) -> Status {
      const std::uint32_t n = number++;
      NMB_ASSIGN(const AttributeOut out, attribute_out(source, owner, n, attribute));
      if (make) NMB_TRY(make_attribute(out, source.types(), object));
      if (!source.types().has_reference(attribute.type))
        return write_attribute(out, source.types(), object, maker_.find_object());
      later->items.push_back({owner, n, HADDR_UNDEF});
      return {};
    };
    if (status.ok()) status = source.metadata().try_each_attribute(owner, define);
    return within(owner == kGlobal ? object_text("group", "/" + source.name()) : source.text(owner),
                  status);
  }

  Status define_values(ExportSource& source, VarId variable, hid_t data_set,
                       PendingObjects* later) {
    NMB_TRY(define_attributes(source, variable, data_set, later, false));
    if (source.style().relayout ||
        source.types().has_reference(source.metadata().variable(variable).type)) {
      H5O_info_t info;
      NMB_TRY(check_hdf5(H5Oget_info2(data_set, &info, H5O_INFO_BASIC), source.text(variable)));
      later->items.push_back({variable, kNoAttribute, info.addr});
      return {};
    }
    if (!is_column(source, variable))
      return write_values(source, variable, data_set, maker_.find_object());
    NMB_TRY(check_hdf5(H5Iinc_ref(data_set), "a data set"));
    columns_.emplace_back(variable, Handle(data_set));
    // The number of open data sets is limited because each of them has a cache of chunks.
    return columns_.size() < kMostColumns ? Status() : write_columns_of(source);
  }

  Status write_columns_of(ExportSource& source) {
    std::vector<std::pair<VarId, hid_t>> data_sets;
    for (const auto& [variable, data_set] : columns_)
      data_sets.emplace_back(variable, data_set.get());
    const Status status = write_columns(source, data_sets, maker_.find_object());
    columns_.clear();
    return status;
  }

  Status define_type_attributes(ExportSource& source, PendingObjects* later) {
    for (const Property& p : source.properties()) {
      if (p.number == Property::Number::kTypeComment) NMB_TRY(define_type_comment(source, p));
      if (p.number != Property::Number::kTypeAttributes) continue;
      NMB_TRY(TypeAttributes(source, p).define(&later->type_attributes, maker_.find_object()));
    }
    return {};
  }

  // Links each named datatype at its path if no link of the hdf5 section leads to it.
  Status link_types() {
    for (const auto& [path, type] : maker_.named()) NMB_TRY(link_type(path, type.get()));
    return {};
  }

  // Links the named datatypes of a classic dataset. netCDF-C leaves out a variable whose type is
  // linked after it.
  Status link_types_of(ExportSource& source) {
    const TypeTable& types = source.types().table();
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].name.empty()) continue;
      NMB_ASSIGN(const hid_t type, source.types().stored(static_cast<Type>(TypeTable::kFirst + i)));
      NMB_TRY(link_type(path_of(types[i]), type));
    }
    return {};
  }

  Status link_type(const std::string& path, hid_t type) {
    if (path.starts_with('/')) return {};  // the type had no link in its HDF5 file
    if (H5Lexists(maker_.file(), path.c_str(), H5P_DEFAULT) > 0) return {};
    H5Eclear2(H5E_DEFAULT);
    NMB_ASSIGN(const Handle lcpl, check_handle(H5Pcreate(H5P_LINK_CREATE), "properties"));
    NMB_TRY(check_hdf5(H5Pset_create_intermediate_group(lcpl.get(), 1), "properties"));
    return check_hdf5(H5Olink(type, maker_.file(), path.c_str(), lcpl.get(), H5P_DEFAULT),
                      object_text("named datatype", path));
  }

  Status write_attributes_later(const PendingObjects& later) {
    NMB_ASSIGN(const std::shared_ptr<ExportSource> source, maker_.block(later.block));
    if (later.type_attributes)
      for (const Property& p : source->properties())
        if (p.number == Property::Number::kTypeAttributes)
          NMB_TRY(TypeAttributes(*source, p).write_references(maker_.find_object()));
    std::uint32_t owner = 0;
    Handle object;
    for (const PendingObject& item : later.items) {
      if (item.attribute == kNoAttribute) continue;
      if (!object.ok() || owner != item.owner) {
        owner = item.owner;
        NMB_ASSIGN(object,
                   maker_.object_at(owner == kGlobal ? source->name() : source->path(owner)));
      }
      NMB_TRY(write_attribute_later(*source, item, object.get()));
    }
    return {};
  }

  Status write_values_later(const PendingObjects& later) {
    NMB_ASSIGN(const std::shared_ptr<ExportSource> source, maker_.block(later.block));
    for (const PendingObject& item : later.items) {
      if (item.attribute != kNoAttribute) continue;
      NMB_ASSIGN(const Handle object, check_handle(H5Oopen_by_addr(maker_.file(), item.address),
                                                   source->text(item.owner)));
      NMB_TRY(write_values(*source, item.owner, object.get(), maker_.find_object()));
    }
    return {};
  }

  Status write_attribute_later(ExportSource& source, const PendingObject& item, hid_t object) {
    std::uint32_t number = 0;
    return source.metadata().try_each_attribute(
        item.owner, [&](const Attribute& attribute) -> Status {
          if (number++ != item.attribute) return {};
          NMB_ASSIGN(const AttributeOut out,
                     attribute_out(source, item.owner, item.attribute, attribute));
          return write_attribute(out, source.types(), object, maker_.find_object());
        });
  }

  const NamedBlocks blocks_;
  const Hdf5Form& form_;
  ObjectMaker maker_;
  std::vector<PendingObjects> later_;
  DimensionScales::SharedUses shared_uses_;
  // Record variables of the current block that are not written yet.
  std::vector<std::pair<VarId, Handle>> columns_;
};

Result<Handle> creation_properties(const ExportSource* root, std::size_t user_block) {
  NMB_ASSIGN(Handle fcpl, new_object_properties(H5P_FILE_CREATE, "properties"));
  NMB_TRY(set_group_order(fcpl.get(), root ? root->order(kGlobal) : Order{3, 3}));
  if (user_block > 0) NMB_TRY(check_hdf5(H5Pset_userblock(fcpl.get(), user_block), "user block"));
  return fcpl;
}

// Returns access properties. If `metadata_room` is not 0, HDF5 reserves this number of bytes for
// metadata at the beginning of the file. Values follow after the reserved bytes.
Result<Handle> access_properties(std::uint64_t metadata_room) {
  NMB_ASSIGN(Handle fapl, check_handle(file_access(), "properties"));
  NMB_TRY(check_hdf5(H5Pset_fclose_degree(fapl.get(), H5F_CLOSE_STRONG), "properties"));
  if (metadata_room > 0)
    NMB_TRY(check_hdf5(H5Pset_meta_block_size(fapl.get(), metadata_room), "properties"));
  return fapl;
}

// Selects the file format that old programs can read, unless the file needs a newer format.
Status set_versions(hid_t fapl, bool new_headers) {
  return check_hdf5(H5Pset_libver_bounds(fapl, new_headers ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST,
                                         H5F_LIBVER_LATEST),
                    "version of headers");
}

Status write_user_block(const std::string& path, std::span<const std::byte> bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  std::size_t done = 0;
  while (fd >= 0 && done < bytes.size()) {
    const ssize_t n =
        ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0 && errno != EINTR) break;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (done == bytes.size()) return {};
  return Status(error == ENOSPC ? Code::kNoSpace : Code::kIo,
                joined_text("user block: ", std::strerror(error)));
}

// Returns the failure of an HDF5 call. error: the value of errno after the call, because HDF5's
// messages about metadata do not include the system's reason.
Status failed_call(std::string_view what, int error) {
  const Status status = hdf5_failure(what);
  if (error != ENOSPC && error != EDQUOT && error != EFBIG) return status;
  return Status(Code::kNoSpace, joined_text(what, ": ", std::strerror(error)));
}

Status write_file(const NamedBlocks& blocks, const Hdf5Form& form, hid_t file, WriteStyle style) {
  Status status = Hdf5Export(blocks, form, file, std::move(style)).write();
  if (!status.ok()) return status;
  errno = 0;
  const herr_t flushed = H5Fflush(file, H5F_SCOPE_LOCAL);
  const int error = errno;
  return flushed < 0 ? failed_call("flush", error) : Status();
}

Result<std::shared_ptr<ExportSource>> root_of(const NamedBlocks& blocks, NamedTypes& named) {
  NMB_ASSIGN(const std::optional<BlockEntry> entry, blocks.find(""));
  if (!entry) return std::shared_ptr<ExportSource>();
  NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block, blocks.block(*entry));
  return ExportSource::make(std::move(block), H5I_INVALID_HID, named);
}

Status write_new(const std::string& path, const NamedBlocks& blocks, WriteStyle style, hid_t fapl) {
  NamedTypes none;
  NMB_ASSIGN(const std::shared_ptr<ExportSource> root, root_of(blocks, none));
  NMB_ASSIGN(const Hdf5Form form, Hdf5Form::of(blocks));
  std::vector<std::byte> before;
  if (form.user_block_of() && !style.is_rehearsal()) {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, blocks.block(*form.user_block_of()));
    NMB_ASSIGN(before, user_block(*block));
  }
  NMB_ASSIGN(const Handle fcpl, creation_properties(root.get(), before.size()));
  NMB_TRY(set_versions(fapl, root && has_large_attribute(root->metadata(), kGlobal)));
  errno = 0;
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fcpl.get(), fapl);
  Status status = file < 0 ? failed_call("cannot create", errno).in_file(path) : Status();
  if (status.ok()) status = write_file(blocks, form, file, std::move(style));
  errno = 0;
  if (file >= 0 && H5Fclose(file) < 0 && status.ok()) status = failed_call("close", errno);
  if (status.ok() && !before.empty()) status = write_user_block(path, before);
  return status;
}

// Returns how many bytes the metadata of a file will take. To measure this, HDF5 writes the
// metadata to one temporary file, and one byte for each chunk to another temporary file. These
// files never have names, so nothing is left when a signal ends the process.
Result<std::uint64_t> metadata_bytes(const NamedBlocks& blocks, WriteStyle style) {
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 32;  // HDF5 releases unused bytes
  style.relayout->is_rehearsal = true;
  NMB_ASSIGN(const std::shared_ptr<SpoolFile> metadata, SpoolFile::create());
  NMB_ASSIGN(const std::shared_ptr<SpoolFile> values, SpoolFile::create());
  NMB_ASSIGN(const Handle fapl, access_properties(kEnough));
  // HDF5 appends these endings, here the numbers of the descriptors, to the name of the file.
  NMB_TRY(check_hdf5(
      H5Pset_fapl_split(fapl.get(), std::to_string(metadata->descriptor()).c_str(), H5P_DEFAULT,
                        std::to_string(values->descriptor()).c_str(), H5P_DEFAULT),
      "properties"));
  NMB_TRY(write_new("/proc/self/fd/", blocks, std::move(style), fapl.get()));
  return metadata->size();
}

// Makes the file `path`. Fails with kExists if the file exists already. After any other failure,
// the file does not exist.
Status export_to(const std::string& path, const NamedBlocks& blocks, WriteStyle style) {
  silence_hdf5();
  NMB_TRY(forbid_leaving());
  std::uint64_t metadata_room = 0;
  if (style.relayout) {
    NMB_ASSIGN(metadata_room, metadata_bytes(blocks, style));
  }
  NMB_ASSIGN(const Handle fapl, access_properties(metadata_room));
  // Create the file here first, because HDF5 does not report why it cannot create a file.
  const int taken = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (taken < 0)
    return Status(errno == EEXIST ? Code::kExists : Code::kIo, path, kNoOffset, {},
                  std::strerror(errno));
  ::close(taken);
  DeferredChunks deferred(path, std::max(style.threads, 1u));
  style.deferred = &deferred;
  Status status = deferred.set_driver(fapl.get());
  if (status.ok()) status = write_new(path, blocks, std::move(style), fapl.get());
  if (status.ok()) status = deferred.copy_all();
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

Status set_chunk(std::string_view chunk, WriteStyle* style) {
  if (chunk.empty()) return {};
  Compression asked;
  NMB_TRY(asked.set_chunk(chunk));
  style->chunk = std::move(asked.chunk);
  return {};
}

// Parses numbers of variables: "0,3,4".
Result<std::vector<VarId>> variables_of(std::string_view text) {
  std::vector<VarId> out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::optional<std::uint64_t> number = whole_number(word);
    if (!number || *number > std::numeric_limits<VarId>::max())
      return Status(Code::kUsage,
                    joined_text("found \"", word, "\", expected a variable's number"));
    out.push_back(static_cast<VarId>(*number));
  }
  return out;
}

// Returns whether pieces of the block hold records of several variables.
bool has_mixed_pieces(const LoadedBlock& block) {
  const Metadata& metadata = block.metadata;
  std::size_t record_variables = 0;
  if (metadata.record_dimension())
    for (VarId id = 0; id < metadata.variable_count(); ++id) {
      const Variable variable = metadata.variable(id);
      record_variables +=
          !variable.dimensions.empty() && variable.dimensions[0] == metadata.record_dimension();
    }
  return record_variables > 1 && !metadata.extension();
}

// Opens the input. Variables are read one after the other, and each of them would read the pieces
// with records of all variables again. If there are such pieces, all values are verified here, each
// piece once, and parts of pieces are then read unverified.
Result<std::unique_ptr<FileReader>> open_to_export(const std::string& input) {
  NMB_ASSIGN(std::unique_ptr<FileReader> reader, FileReader::open(input));
  bool is_mixed = false;
  NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(entry));
    is_mixed = has_mixed_pieces(*block);
    return !is_mixed;
  }));
  if (!is_mixed) return reader;
  std::vector<std::byte> bytes;
  NMB_TRY(reader->for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    NMB_ASSIGN(const std::shared_ptr<const LoadedBlock> block, reader->block(entry));
    for (std::uint64_t at = 0; at < entry.extent_length; at += bytes.size()) {
      bytes.resize(std::min<std::uint64_t>(reader->piece_size(), entry.extent_length - at));
      NMB_TRY(block->extent->read_at(at, bytes));
    }
    return true;
  }));
  NMB_ASSIGN(std::unique_ptr<FileReader> again,
             FileReader::open(input, {.unverified = Unverified::kPartsOfPieces}));
  // Another program may have added a generation, whose values were not verified.
  return again->generation() == reader->generation() ? std::move(again) : std::move(reader);
}

Status convert_file(const std::string& input, const std::string& output, WriteStyle style,
                    std::string_view chunk, const std::optional<LinkedInput>& linked) {
  NMB_TRY(set_chunk(chunk, &style));
  NMB_ASSIGN(const std::unique_ptr<FileReader> reader,
             linked ? FileReader::open(input, {.unverified = Unverified::kLinkedValues,
                                               .external = ExternalPaths::kAny})
                    : open_to_export(input));
  if (!linked || linked->variables.empty())
    return export_to(output, *reader, std::move(style)).in_file(input);
  NMB_ASSIGN(const std::vector<VarId> variables, variables_of(linked->variables));
  NMB_ASSIGN(const NamedBlocks blocks, NamedBlocks::of_variables(*reader, variables));
  return export_to(output, blocks, std::move(style)).in_file(input);
}

Status relay_file(const std::string& input, const std::string& output, unsigned threads) {
  NMB_ASSIGN(std::shared_ptr<const FileSource> file, FileSource::open(input));
  // If the file is an HDF5 file, another process of this program reads it.
  NMB_ASSIGN(const NamedBlocks blocks, NamedBlocks::open(std::move(file)));
  WriteStyle style;
  style.relayout = Relayout{threads};
  style.threads = threads;
  return export_to(output, blocks, std::move(style)).in_file(input);
}

// Sends the status that work() returns.
template <class Work>
int send_outcome(const std::string& input, const Work& work) {
  // Keeps HDF5 from closing objects at exit. All objects are closed when this function ends; at
  // exit, HDF5 would only repeat calls that have failed.
  H5dont_atexit();
  try {
    return send_end(work());
  } catch (const std::bad_alloc&) {
    return send_end(Status(Code::kLimit, input, kNoOffset, {}, "out of memory"));
  }
}

}  // namespace

int export_file(const std::string& input, const std::string& output, WriteStyle style,
                std::string_view chunk, const std::optional<LinkedInput>& linked) {
  return send_outcome(input,
                      [&] { return convert_file(input, output, std::move(style), chunk, linked); });
}

int relayout_file(const std::string& input, const std::string& output, unsigned threads) {
  return send_outcome(input, [&] { return relay_file(input, output, threads); });
}

}  // namespace nmb::hdf5
