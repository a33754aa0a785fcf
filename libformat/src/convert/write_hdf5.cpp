// Writes an NMB file as HDF5 with nmb-hdf5 (see nmb/convert.h).
#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "hdf5/client/group_block.h"
#include "hdf5/client/hdf5_file.h"
#include "hdf5/client/hdf5_form.h"
#include "hdf5/client/hdf5_process.h"
#include "hdf5/client/hdf5_stream.h"
#include "hdf5/client/netcdf_check.h"
#include "hdf5/model/hdf5_section.h"
#include "model/name_rules.h"
#include "model/paths.h"
#include "nmb/classic.h"
#include "nmb/convert.h"
#include "nmb/files.h"

namespace nmb {

namespace {

Status check_ranges(const ConvertOptions& options) {
  if (options.deflate < 0 || options.deflate > 9)
    return Status(Code::kUsage,
                  "found deflate level " + std::to_string(options.deflate) + ", expected 0 to 9");
  for (const Compression::ChunkLength& asked : options.chunk)
    if (asked.length == 0)
      return Status(Code::kUsage,
                    "found chunks of length 0 along " + asked.object() + ", expected 1 or more");
  return {};
}

// Runs `nmb-hdf5 export`. `path` is the final name of `output`.
Status run_export(const std::string& input, const std::string& output, const std::string& path,
                  const ConvertOptions& options) {
  using hdf5::Hdf5Process;
  const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
  std::string chunk;
  for (const Compression::ChunkLength& asked : options.chunk)
    chunk += (chunk.empty() ? "" : ",") + asked.text();
  NMB_ASSIGN(const std::unique_ptr<Hdf5Process> process,
             Hdf5Process::start({options.links_unchanged ? "export-linked" : "export", input,
                                 output, std::to_string(options.deflate), flag(options.shuffle),
                                 flag(options.plain), chunk},
                                -1));
  NMB_TRY(process->wait_readable(options.cancel));
  NMB_ASSIGN(const Hdf5Process::Received last, process->next());
  NMB_TRY(process->wait().status());
  if (last.kind == hdf5::Message::kDone) return {};
  const Status failure = hdf5::decode_failure(last.content);
  const bool of_output = failure.file() == output || failure.code() == Code::kNoSpace;
  return Status(failure.code(), of_output ? path : input, failure.offset(), failure.rule(),
                failure.message());
}

// Numbers the types of a block in the order in which the block's definitions use them. Leaves out
// unused types.
class TypesInOrder {
 public:
  explicit TypesInOrder(const Block& block) : from_(block.metadata) {}

  Result<Metadata> run() {
    auto extension = std::make_shared<Extension>(*from_.extension());
    NMB_ASSIGN(std::vector<hdf5::Property> properties, hdf5::decode_properties(extension->hdf5));
    extension->hdf5.clear();
    for (hdf5::Property& p : properties) {
      using Number = hdf5::Property::Number;
      // The bytes of this property contain numbers of types.
      if (p.number == Number::kTypeAttributes) return from_;
      if (p.number == Number::kTypeComment) {
        NMB_ASSIGN(p.type, number(p.type));
      }
      for (hdf5::Link& link : p.links) {
        if (link.kind != hdf5::LinkKind::kType) continue;
        NMB_ASSIGN(const Type type, number(static_cast<Type>(link.number)));
        link.number = static_cast<std::uint32_t>(type);
      }
      hdf5::append_property(p, &extension->hdf5);
    }
    Metadata to{Metadata::Names::kAsFound};
    // Attributes can be added only after their types exist.
    NMB_TRY(copy_definitions(nullptr));
    extension->types = types_;
    to.set_extension(std::move(extension));
    NMB_TRY(copy_definitions(&to));
    return to;
  }

 private:
  Status copy_definitions(Metadata* to) {
    for (DimId d = 0; to && d < from_.dimension_count(); ++d) {
      const Dimension dimension = from_.dimension(d);
      NMB_TRY(to->def_dim(dimension.name, dimension.length).status());
    }
    NMB_TRY(copy_attributes(kGlobal, to));
    for (VarId v = 0; v < from_.variable_count(); ++v) {
      const Variable variable = from_.variable(v);
      NMB_ASSIGN(const Type type, number(variable.type));
      if (to) NMB_TRY(to->def_var(variable.name, type, variable.dimensions).status());
      if (to) to->set_begin(v, variable.begin);
      NMB_TRY(copy_attributes(v, to));
    }
    return {};
  }

  Status copy_attributes(VarId owner, Metadata* to) {
    return from_.try_each_attribute(owner, [&](const Attribute& a) -> Status {
      NMB_ASSIGN(const Type type, number(a.type));
      if (!to) return {};
      return TypeTable::is_extended(type)
                 ? to->def_extended_att(owner, a.name, type, a.count, a.values)
                 : to->def_att(owner, a.name, type, a.values);
    });
  }

  Result<Type> number(Type type) {
    const TypeTable& types = from_.extension()->types;
    if (!TypeTable::is_extended(type) || !types.has(type)) return type;
    if (const auto known = numbers_.find(type); known != numbers_.end()) return known->second;
    ExtendedType one = types.at(type);
    // A type refers only to earlier types.
    NMB_ASSIGN(one.base, number(one.base));
    for (ExtendedType::Field& field : one.fields) {
      NMB_ASSIGN(field.type, number(field.type));
    }
    NMB_ASSIGN(const Type added, types_.add(std::move(one)));
    numbers_.emplace(type, added);
    return added;
  }

  const Metadata& from_;
  TypeTable types_;
  std::map<Type, Type> numbers_;
};

// Reads the result and compares it with the source.
class ResultCheck {
 public:
  // `reader` and `form` must outlive this object.
  ResultCheck(const Reader& reader, const hdf5::Hdf5Form& form, bool plain)
      : reader_(reader), form_(form), plain_(plain), netcdf_(reader, form) {}

  // Checks that the groups of the HDF5 file are the blocks of kind 6. Classic datasets are not
  // compared.
  Status run(const std::string& path) {
    NMB_ASSIGN(const std::shared_ptr<const FileSource> file, FileSource::open(path));
    NMB_ASSIGN(const std::shared_ptr<const SpoolFile> spool, SpoolFile::create());
    NMB_TRY(hdf5::read_file(file, spool, [&](hdf5::GroupBlock written) -> Status {
      return take(std::move(written), path);
    }));
    std::uint64_t expected = 0;
    NMB_TRY(reader_.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
      if (is_extended(entry)) ++expected;
      return true;
    }));
    if (groups_ != expected)
      return Status(Code::kDamaged, "the written file differs from the source: found " +
                                        std::to_string(groups_) + " groups, expected " +
                                        std::to_string(expected));
    return netcdf_.finish();
  }

 private:
  bool is_extended(const BlockEntry& entry) const {
    return entry.kind == static_cast<std::uint16_t>(Kind::kExtended) &&
           !form_.dimensions().is_classic(entry.name);
  }
  static Status differs(const std::string& group, const std::string& what) {
    return Status(Code::kDamaged,
                  "the written file differs from the source: block \"" + group + "\": " + what);
  }

  Status take(hdf5::GroupBlock written, const std::string& path) {
    NMB_ASSIGN(const std::optional<BlockEntry> entry, reader_.find(written.name));
    if (written.name.empty() && form_.user_block_of() && !form_.user_block_of()->empty())
      NMB_TRY(check_user_block(written, path));
    if (!entry) return {};
    if (!is_extended(*entry)) {
      NMB_ASSIGN(const std::shared_ptr<const Block> source, reader_.block(*entry));
      NMB_ASSIGN(const std::shared_ptr<const Block> group,
                 hdf5::decode_group(std::move(written), path));
      return netcdf_.add_classic(*group, *source, plain_);
    }
    ++groups_;
    std::vector<std::byte> body;
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader_.block(*entry, &body));
    NMB_ASSIGN(const std::shared_ptr<const Block> expected, form_.written(block));
    if (expected != block || !std::ranges::equal(written.body, body))
      NMB_TRY(compare_definitions(written, *expected, path));
    netcdf_.add(*expected);
    return compare_values(written, *expected);
  }

  Status check_user_block(const hdf5::GroupBlock& root, const std::string& path) const {
    NMB_ASSIGN(const std::shared_ptr<const Block> group, hdf5::decode_group(root, path));
    NMB_ASSIGN(const std::vector<std::byte> found, hdf5::user_block(*group));
    NMB_ASSIGN(const std::shared_ptr<const Block> block, reader_.block(*form_.user_block_of()));
    NMB_ASSIGN(const std::vector<std::byte> expected, hdf5::user_block(*block));
    return found == expected ? Status() : differs("", "its user block is different");
  }

  // Leaves out links to groups that have no block of their own, because such groups exist only
  // above other blocks. If the remaining links are the default, leaves them out too.
  Status leave_out_implied(Block* group) const {
    NMB_ASSIGN(std::vector<hdf5::Property> properties,
               hdf5::decode_properties(group->metadata.extension()->hdf5));
    auto extension = std::make_shared<Extension>(*group->metadata.extension());
    extension->hdf5.clear();
    for (hdf5::Property& p : properties) {
      if (p.number == hdf5::Property::Number::kLinks) {
        std::vector<hdf5::Link> links;
        for (hdf5::Link& link : p.links) {
          NMB_ASSIGN(const bool implied, is_implied(*group, link));
          if (!implied) links.push_back(std::move(link));
        }
        p.links = std::move(links);
        if (are_default(group->metadata, p.links)) continue;
      }
      hdf5::append_property(p, &extension->hdf5);
    }
    group->metadata.set_extension(std::move(extension));
    return {};
  }

  Result<bool> is_implied(const Block& group, const hdf5::Link& link) const {
    if (link.kind != hdf5::LinkKind::kGroup) return false;
    NMB_ASSIGN(const std::optional<BlockEntry> entry,
               reader_.find(joined_path(group.name, link.name)));
    return !entry.has_value();
  }

  // Returns whether `links` are the default: the variables in order, then groups in the order of
  // names.
  static bool are_default(const Metadata& metadata, const std::vector<hdf5::Link>& links) {
    VarId variable = 0;
    const std::string* last_group = nullptr;
    for (const hdf5::Link& link : links) {
      const bool is_variable = link.kind == hdf5::LinkKind::kVariable;
      if (is_variable &&
          (last_group || link.number != variable || variable >= metadata.variable_count()))
        return false;
      if (!is_variable && link.kind != hdf5::LinkKind::kGroup) return false;
      if (!is_variable && last_group && link.name <= *last_group) return false;
      const std::string_view name = is_variable ? metadata.variable(variable++).name : link.name;
      const bool is_ascii = std::ranges::all_of(name, [](char c) { return (c & 0x80) == 0; });
      if (is_ascii != (link.character_set == CharacterSet::kAscii)) return false;
      if (!is_variable) last_group = &link.name;
    }
    return true;
  }

  // Named datatypes without a link have numbers in place of paths. Only equality of these numbers
  // has a meaning: equal numbers mean the same type.
  Status compare_definitions(const hdf5::GroupBlock& written, const Block& expected,
                             const std::string& path) {
    NMB_ASSIGN(const std::shared_ptr<const Block> decoded, hdf5::decode_group(written, path));
    Block group = *decoded, named = expected;
    auto extension = std::make_shared<Extension>(*expected.metadata.extension());
    hdf5::drop_replaced_parameters(extension.get());
    auto written_extension = std::make_shared<Extension>(*group.metadata.extension());
    hdf5::drop_replaced_parameters(written_extension.get());
    group.metadata.set_extension(std::move(written_extension));
    const TypeTable& found = group.metadata.extension()->types;
    TypeTable types;
    for (std::size_t i = 0; i < extension->types.size(); ++i) {
      ExtendedType type = extension->types[i];
      if (i < found.size() && type.name.starts_with("//") && found[i].name.starts_with("//")) {
        const auto [known, is_new] = unlinked_.emplace(found[i].name, type.name);
        if (known->second == type.name) type.name = found[i].name;
      }
      NMB_TRY(types.add(std::move(type)).status());
    }
    extension->types = std::move(types);
    named.metadata.set_extension(std::move(extension));
    NMB_ASSIGN(std::vector<std::byte> found_body, encoded(group));
    NMB_ASSIGN(std::vector<std::byte> expected_body, encoded(named));
    if (found_body == expected_body) return {};
    // If a file was divided, some objects were left out. The links to these objects and the types
    // that only they used do not count.
    NMB_TRY(leave_out_implied(&group));
    NMB_TRY(leave_out_implied(&named));
    NMB_ASSIGN(group.metadata, TypesInOrder(group).run());
    NMB_ASSIGN(named.metadata, TypesInOrder(named).run());
    NMB_ASSIGN(found_body, encoded(group));
    NMB_ASSIGN(expected_body, encoded(named));
    return found_body == expected_body ? Status()
                                       : differs(written.name, "its definitions are different");
  }

  static Result<std::vector<std::byte>> encoded(const Block& block) {
    Metadata metadata = block.metadata;
    for (VarId v = 0; v < metadata.variable_count(); ++v)
      metadata.set_begin(v, metadata.begin(v) - block.layout.header_length);
    return encode_extended_body(metadata, metadata.record_dimension() ? block.records : 0);
  }

  static Status compare_values(const hdf5::GroupBlock& written, const Block& expected) {
    if (written.extent_length != expected.extent->size())
      return differs(written.name, "found " + std::to_string(written.extent_length) +
                                       " bytes of values, expected " +
                                       std::to_string(expected.extent->size()));
    constexpr std::uint64_t kPart = 1 << 20;
    std::vector<std::byte> a(kPart), b(kPart);
    for (std::uint64_t at = 0; at < written.extent_length; at += kPart) {
      const auto part = static_cast<std::size_t>(std::min(kPart, written.extent_length - at));
      NMB_TRY(written.extent->read_at(at, std::span(a).first(part)));
      NMB_TRY(expected.extent->read_at(at, std::span(b).first(part)));
      if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(part), b.begin()))
        return differs(written.name, "its values differ between bytes " + std::to_string(at) +
                                         " and " + std::to_string(at + part));
    }
    return {};
  }

  const Reader& reader_;
  const hdf5::Hdf5Form& form_;
  const bool plain_;  // ConvertOptions::plain
  hdf5::NetcdfCheck netcdf_;
  std::map<std::string, std::string>
      unlinked_;  // expected name of each named datatype without a link, by its found name
  std::uint64_t groups_ = 0;
};

Status check_losses(const hdf5::Hdf5Form& form) {
  const std::size_t count = form.losses().size();
  if (count == 0) return {};
  return Status(Code::kConflict,
                form.losses().front().line() +
                    (count > 1 ? ", and " + std::to_string(count - 1) + " more" : std::string()));
}

Status write_alone(const Reader& reader, const std::string& input, const std::string& path,
                   const ConvertOptions& options) {
  NMB_TRY(check_ranges(options));
  CreateOptions create;
  create.overwrite = options.overwrite;
  create.sync = options.sync;
  create.cancel = options.cancel;
  NMB_ASSIGN(const hdf5::Hdf5Form form, hdf5::Hdf5Form::of(reader));
  if (options.on_losses) {
    NMB_ASSIGN(LostRecords records, lost_records(reader));
    NMB_TRY(options.on_losses(reader, {form.losses(), form.changes(), std::move(records)}));
  } else {
    NMB_TRY(check_losses(form).in_file(input));
  }
  if (!options.plain) NMB_TRY(hdf5::check_netcdf_names(reader).in_file(input));
  create.make = [&](const std::string& hidden) -> Status {
    const Status made = run_export(input, hidden, path, options);
    // A signal from a terminal also ends the process nmb-hdf5.
    if (options.cancel && options.cancel->load())
      return Status(Code::kIo, path, kNoOffset, "", "interrupted; nothing was written");
    NMB_TRY(made);
    if (options.links_unchanged) NMB_TRY(options.links_unchanged());
    if (!options.check) return {};
    const Status status = ResultCheck(reader, form, options.plain).run(hidden);
    if (status.ok() || (!status.file().empty() && status.file() != hidden)) return status;
    // The message names the final path, because users do not know the hidden name.
    return Status(status.code(), path, status.offset(), status.rule(), status.message());
  };
  NMB_ASSIGN(std::unique_ptr<OutputFile> output, create_output(path, create));
  if (options.layer) output = options.layer(std::move(output));
  if (options.sync) NMB_TRY(output->sync());
  return output->publish();
}

}  // namespace

Status write_hdf5(const Reader& reader, const std::string& input, const std::string& path,
                  const ConvertOptions& options, Communicator& ranks) {
  return ranks.first([&] { return write_alone(reader, input, path, options); });
}

}  // namespace nmb
