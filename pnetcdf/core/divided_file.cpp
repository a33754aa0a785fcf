#include "divided_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "merge/dividing/name_splitter.h"

namespace nmb::pnetcdf {

namespace {

// How a name is divided. Without a group, it belongs to the main block.
struct NameParts {
  std::string_view group{}, prefix{}, rest{};
  bool matches() const { return !group.empty(); }
};

Result<NameParts> parts_of(NameSplitter& splitter, std::string_view name) {
  NMB_ASSIGN(const std::optional<SplitName> split, splitter.split(name));
  if (!split || split->group.empty() || split->rest.empty()) return NameParts{};
  return NameParts{split->group, name.substr(0, name.size() - split->rest.size()), split->rest};
}

class Divider {
 public:
  Divider(const Metadata& all, const std::string& main, NameSplitter splitter,
          const std::vector<FileBlock>& before)
      : all_(all), splitter_(std::move(splitter)) {
    out_.blocks = before;
    for (std::size_t i = 0; i < before.size(); ++i) index_.emplace(before[i].name, i);
    out_.definitions.resize(before.size());
    for (Metadata& one : out_.definitions) one = Metadata(Metadata::Names::kAsFound);
    dims_.resize(before.size());
    main_ = main;
  }

  Result<DividedFile> run() {
    NMB_TRY(add_dims());
    for (VarId v = 0; v < all_.variable_count(); ++v) NMB_TRY(add_var(v));
    if (all_.attribute_count(kGlobal) > 0 || all_.variable_count() == 0)
      NMB_TRY(copy_atts(all_, kGlobal, kGlobal, &out_.definitions[block({})]));
    return std::move(out_);
  }

 private:
  // Returns the block of a group; that of no group is the main block.
  std::size_t block(const NameParts& parts) {
    const std::string name(parts.matches() ? parts.group : std::string_view(main_));
    const auto [at, is_new] = index_.emplace(name, out_.blocks.size());
    if (is_new) {
      FileBlock made;
      made.name = name;
      made.prefix = parts.prefix;
      made.is_divided = parts.matches();
      out_.blocks.push_back(std::move(made));
      out_.definitions.emplace_back(Metadata::Names::kAsFound);
      dims_.emplace_back();
    }
    return at->second;
  }

  // Dimensions whose names have a group come first in its block. Names of a group may begin in
  // several ways; those that do not begin as the first of them belong to the main block.
  Result<std::optional<std::size_t>> own_block(std::string_view name, NameParts* parts) {
    NMB_ASSIGN(*parts, parts_of(splitter_, name));
    if (!parts->matches()) return std::optional<std::size_t>();
    const std::size_t found = block(*parts);
    if (out_.blocks[found].prefix != parts->prefix) return std::optional<std::size_t>();
    return std::optional(found);
  }

  Status add_dims() {
    for (DimId d = 0; d < all_.dimension_count(); ++d) {
      const Dimension dim = all_.dimension(d);
      NameParts parts;
      NMB_ASSIGN(const std::optional<std::size_t> own, own_block(dim.name, &parts));
      if (!own) continue;
      // A dimension of a stored block stays what it is; new ones come after the others.
      NMB_ASSIGN(const DimId made, out_.definitions[*own].def_dim(parts.rest, dim.length));
      dims_[*own].emplace(d, made);
      if (!out_.blocks[*own].is_stored) ++out_.blocks[*own].own_dims;
    }
    return {};
  }

  Result<DimId> dim_in(std::size_t block, DimId d) {
    if (const auto known = dims_[block].find(d); known != dims_[block].end()) return known->second;
    const Dimension dim = all_.dimension(d);
    NMB_ASSIGN(const DimId made, out_.definitions[block].def_dim(dim.name, dim.length));
    dims_[block].emplace(d, made);
    return made;
  }

  Status add_var(VarId v) {
    const Variable var = all_.variable(v);
    NameParts parts;
    NMB_ASSIGN(const std::optional<std::size_t> own, own_block(var.name, &parts));
    const std::size_t at = own ? *own : block({});
    std::vector<DimId> dims;
    for (const DimId d : var.dimensions) {
      NMB_ASSIGN(const DimId made, dim_in(at, d));
      dims.push_back(made);
    }
    NMB_ASSIGN(const VarId made,
               out_.definitions[at].def_var(own ? parts.rest : var.name, var.type, dims));
    NMB_TRY(copy_atts(all_, v, made, &out_.definitions[at]));
    out_.places.push_back({static_cast<std::uint32_t>(at), made});
    return {};
  }

  const Metadata& all_;
  NameSplitter splitter_;
  std::string main_;
  DividedFile out_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::unordered_map<DimId, DimId>> dims_;  // of the flat file, by block
};

}  // namespace

Status copy_atts(const Metadata& from, VarId owner, VarId to_owner, Metadata* to) {
  return from.try_each_attribute(owner, [&](const Attribute& att) {
    return to->put_att(to_owner, att.name, att.type, att.values);
  });
}

Result<DividedFile> divide(const Metadata& all, const std::string& main, const std::string& rule,
                           const std::vector<FileBlock>& before) {
  NMB_ASSIGN(NameSplitter splitter, NameSplitter::compile(rule));
  return Divider(all, main, std::move(splitter), before).run();
}

namespace {
// The number of own dimensions of a block that a path names: all but the record dimension, which
// all blocks of the file have under one name.
constexpr std::uint32_t kAllFixed = std::numeric_limits<std::uint32_t>::max();
}  // namespace

FileBlock path_block(std::string_view name) {
  FileBlock made;
  made.name = name;
  if (name.empty()) return made;
  made.prefix = made.name + "/";
  made.own_dims = kAllFixed;
  made.is_divided = true;
  return made;
}

Result<DividedFile> divide_by_path(const Metadata& all, bool needs_one) {
  DividedFile out;
  std::unordered_map<std::string, std::size_t> index;
  const auto block = [&](std::string_view name) {
    const auto [at, is_new] = index.emplace(name, out.blocks.size());
    if (is_new) {
      out.blocks.push_back(path_block(name));
      out.definitions.emplace_back(Metadata::Names::kAsFound);
    }
    return at->second;
  };
  const auto rest_of = [](std::string_view name) { return name.substr(name.rfind('/') + 1); };
  std::vector<DimId> dims;
  for (DimId d = 0; d < all.dimension_count(); ++d) {
    const Dimension dim = all.dimension(d);
    const std::size_t at = block(path_of(dim.name));
    NMB_ASSIGN(const DimId made, out.definitions[at].def_dim(rest_of(dim.name), dim.length));
    dims.push_back(made);
  }
  for (VarId v = 0; v < all.variable_count(); ++v) {
    const Variable var = all.variable(v);
    const std::size_t at = block(path_of(var.name));
    std::vector<DimId> own;
    for (const DimId d : var.dimensions) {
      const Dimension dim = all.dimension(d);
      DimId id = dims[d];
      if (dim.is_record()) {
        if (const auto known = out.definitions[at].find_dimension(dim.name))
          id = *known;
        else
          NMB_ASSIGN(id, out.definitions[at].def_dim(dim.name, dim.length));
      }
      own.push_back(id);
    }
    NMB_ASSIGN(const VarId made, out.definitions[at].def_var(rest_of(var.name), var.type, own));
    NMB_TRY(copy_atts(all, v, made, &out.definitions[at]));
    out.places.push_back({static_cast<std::uint32_t>(at), made});
  }
  if (all.attribute_count(kGlobal) > 0 || (needs_one && out.blocks.empty()))
    NMB_TRY(copy_atts(all, kGlobal, kGlobal, &out.definitions[block({})]));
  return out;
}

Result<std::vector<FileBlock>> divided_blocks(const FileReader& reader) {
  struct Tags {
    std::optional<std::string> prefix{};
    std::uint32_t dims = 0;
  };
  std::map<std::uint64_t, Tags> tags;
  NMB_TRY(reader.for_each_tag(kPrefixTag,
                              [&](std::uint64_t order, const TagValue& value) -> Result<bool> {
                                if (const auto* const text = std::get_if<std::string>(&value))
                                  tags[order].prefix = *text;
                                return true;
                              }));
  if (tags.empty()) return std::vector<FileBlock>();
  NMB_TRY(reader.for_each_tag(kDimsTag,
                              [&](std::uint64_t order, const TagValue& value) -> Result<bool> {
                                if (const auto* const number = std::get_if<std::int64_t>(&value))
                                  tags[order].dims = static_cast<std::uint32_t>(*number);
                                return true;
                              }));
  std::vector<std::pair<std::uint64_t, FileBlock>> found;
  std::size_t others = 0;
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    FileBlock block;
    block.name = entry.name;
    const auto tag = tags.find(entry.order);
    block.is_divided = tag != tags.end() && tag->second.prefix.has_value();
    if (block.is_divided) {
      block.prefix = *tag->second.prefix;
      block.own_dims = tag->second.dims;
    } else {
      ++others;
    }
    found.emplace_back(entry.order, std::move(block));
    return others <= 1;
  }));
  if (others > 1) return std::vector<FileBlock>();
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<FileBlock> blocks;
  for (auto& [order, block] : found) blocks.push_back(std::move(block));
  return blocks;
}

Result<Metadata> joined(const std::vector<FileBlock>& blocks,
                        const std::vector<const Metadata*>& definitions,
                        std::vector<VarPlace>* places) {
  Metadata all(Metadata::Names::kAsFound);
  all.check_names_at_once();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Metadata& from = *definitions[b];
    std::vector<DimId> dims;
    for (DimId d = 0; d < from.dimension_count(); ++d) {
      const Dimension dim = from.dimension(d);
      std::string name(dim.name);
      if (d < blocks[b].own_dims && !(dim.is_record() && blocks[b].own_dims == kAllFixed))
        name = blocks[b].prefix + name;
      // Dimensions that several blocks share are one in the flat file.
      if (const std::optional<DimId> known = all.find_dimension(name)) {
        if (all.dimension(*known).length != dim.length)
          return Status(Code::kConflict,
                        "dimension " + name + " has several lengths in the blocks");
        dims.push_back(*known);
        continue;
      }
      NMB_ASSIGN(const DimId made, all.def_dim(name, dim.length));
      dims.push_back(made);
    }
    NMB_TRY(copy_atts(from, kGlobal, kGlobal, &all));
    for (VarId v = 0; v < from.variable_count(); ++v) {
      const Variable var = from.variable(v);
      std::vector<DimId> own;
      for (const DimId d : var.dimensions) own.push_back(dims[d]);
      NMB_ASSIGN(const VarId made,
                 all.def_var(blocks[b].is_divided ? blocks[b].prefix + std::string(var.name)
                                                  : std::string(var.name),
                             var.type, own));
      NMB_TRY(copy_atts(from, v, made, &all));
      places->push_back({static_cast<std::uint32_t>(b), v});
    }
  }
  return all;
}

}  // namespace nmb::pnetcdf
