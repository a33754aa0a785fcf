#include "divided_file.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "merge/dividing/name_splitter.h"
#include "wire/joined_text.h"

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
      : all_(all), main_(main), splitter_(std::move(splitter)), placed_(all.dimension_count()) {
    out_.places.resize(all.variable_count());
    for (const FileBlock& one : before) add_block(one);
  }

  Result<DividedFile> run() {
    const std::size_t before = out_.blocks.size();
    std::vector<bool> stored(all_.variable_count());
    for (std::size_t b = 0; b < before; ++b) NMB_TRY(repeat(b, &stored));
    NMB_TRY(add_own_dims());
    for (VarId v = 0; v < all_.variable_count(); ++v)
      if (!stored[v]) NMB_TRY(add_var(v));
    for (DimId d = 0; d < all_.dimension_count(); ++d)
      if (!placed_[d]) NMB_TRY(dim_in(block({}), d).status());
    if (all_.attribute_count(kGlobal) > 0 || all_.variable_count() == 0)
      NMB_TRY(copy_atts(all_, kGlobal, kGlobal, &out_.definitions[block({})]));
    return std::move(out_);
  }

 private:
  std::size_t add_block(FileBlock made) {
    index_.emplace(made.name, out_.blocks.size());
    out_.blocks.push_back(std::move(made));
    out_.definitions.emplace_back(Metadata::Names::kAsFound);
    dims_.emplace_back();
    return out_.blocks.size() - 1;
  }

  // Returns the block of a group; that of no group is the main block.
  std::size_t block(const NameParts& parts) {
    const std::string name(parts.matches() ? parts.group : std::string_view(main_));
    if (const auto known = index_.find(name); known != index_.end()) return known->second;
    FileBlock made;
    made.name = name;
    made.prefix = parts.prefix;
    made.is_divided = parts.matches();
    return add_block(std::move(made));
  }

  // Names of a group may begin in several ways; those that do not begin as the first of them belong
  // to the main block, and so does a group with its name.
  Result<std::optional<std::size_t>> own_block(std::string_view name, NameParts* parts) {
    NMB_ASSIGN(*parts, parts_of(splitter_, name));
    if (!parts->matches() || parts->group == main_) return std::optional<std::size_t>();
    const std::size_t found = block(*parts);
    if (out_.blocks[found].prefix != parts->prefix) return std::optional<std::size_t>();
    return std::optional(found);
  }

  Result<DimId> def_dim(std::size_t block, DimId d, std::string_view name) {
    NMB_ASSIGN(const DimId made, out_.definitions[block].def_dim(name, all_.dimension(d).length));
    dims_[block].emplace(d, made);
    placed_[d] = true;
    return made;
  }
  Status def_var(std::size_t block, VarId v, std::string_view name) {
    const Variable var = all_.variable(v);
    std::vector<DimId> dims;
    for (const DimId d : var.dimensions) {
      NMB_ASSIGN(const DimId made, dim_in(block, d));
      dims.push_back(made);
    }
    Metadata& to = out_.definitions[block];
    NMB_ASSIGN(const VarId made, to.def_var(name, var.type, dims));
    out_.places[v] = {static_cast<std::uint32_t>(block), made};
    return copy_atts(all_, v, made, &to);
  }

  // Defines what a stored block has, in its order.
  Status repeat(std::size_t b, std::vector<bool>* stored) {
    const FileBlock& of = out_.blocks[b];
    const auto rest_of = [&](std::string_view name) -> Result<std::string_view> {
      if (of.has_prefix(name)) return name.substr(of.prefix.size());
      return Status(Code::kUnsupported, joined_text("the name of ", name, " must begin with ",
                                                    of.prefix, ", as all names of its block"));
    };
    for (std::size_t i = 0; i < of.dims.size(); ++i) {
      std::string_view name = all_.dimension(of.dims[i]).name;
      if (i < of.own_dims) NMB_ASSIGN(name, rest_of(name));
      NMB_TRY(def_dim(b, of.dims[i], name).status());
    }
    for (const VarId v : of.vars) {
      std::string_view name = all_.variable(v).name;
      if (of.is_divided) NMB_ASSIGN(name, rest_of(name));
      NMB_TRY(def_var(b, v, name));
      (*stored)[v] = true;
    }
    return {};
  }

  // Dimensions whose names have a group come first in its block. One that comes to a stored block
  // keeps its whole name. One whose rest is the name of another dimension is not the group's own,
  // because variables of the group may have both.
  Status add_own_dims() {
    for (DimId d = 0; d < all_.dimension_count(); ++d) {
      if (placed_[d]) continue;
      const std::string_view name = all_.dimension(d).name;
      NameParts parts;
      NMB_ASSIGN(const std::optional<std::size_t> own, own_block(name, &parts));
      if (!own) continue;
      FileBlock& to = out_.blocks[*own];
      if (!to.is_stored && all_.find_dimension(parts.rest)) continue;
      NMB_TRY(def_dim(*own, d, to.is_stored ? name : parts.rest).status());
      to.dims.push_back(d);
      if (!to.is_stored) ++to.own_dims;
    }
    return {};
  }

  Result<DimId> dim_in(std::size_t block, DimId d) {
    if (const auto known = dims_[block].find(d); known != dims_[block].end()) return known->second;
    out_.blocks[block].dims.push_back(d);
    return def_dim(block, d, all_.dimension(d).name);
  }

  Status add_var(VarId v) {
    const std::string_view name = all_.variable(v).name;
    NameParts parts;
    NMB_ASSIGN(const std::optional<std::size_t> own, own_block(name, &parts));
    const std::size_t at = own ? *own : block({});
    out_.blocks[at].vars.push_back(v);
    return def_var(at, v, own ? parts.rest : name);
  }

  const Metadata& all_;
  std::string main_;
  NameSplitter splitter_;
  DividedFile out_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::unordered_map<DimId, DimId>> dims_;  // of the flat file, by block
  std::vector<bool> placed_;                            // dimensions that a block has
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
// An ID that no tag gives.
constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();
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
    std::string ids{};
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
  NMB_TRY(
      reader.for_each_tag(kIdsTag, [&](std::uint64_t order, const TagValue& value) -> Result<bool> {
        if (const auto* const text = std::get_if<std::string>(&value)) tags[order].ids = *text;
        return true;
      }));
  std::vector<std::pair<std::uint64_t, FileBlock>> found;
  std::size_t others = 0;
  NMB_TRY(reader.for_each_entry("", [&](const BlockEntry& entry) -> Result<bool> {
    FileBlock block;
    block.name = entry.name;
    const auto tag = tags.find(entry.order);
    if (tag != tags.end()) block.first_ids = std::move(tag->second.ids);
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

namespace {

using Ids = std::vector<std::uint32_t>;

std::string text_of(const Ids& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i + 1;
    while (end < ids.size() && ids[i] < ids[i + 1] &&
           ids[end] - ids[end - 1] == ids[i + 1] - ids[i])
      ++end;
    if (!text.empty()) text += ' ';
    text += std::to_string(ids[i]);
    if (end > i + 1) {
      text += "x" + std::to_string(end - i);
      if (const std::uint32_t step = ids[i + 1] - ids[i]; step != 1)
        text += "+" + std::to_string(step);
    }
    i = end;
  }
  return text;
}

// Returns no IDs if the text is wrong or has more than `most`.
Ids ids_of(std::string_view text, std::size_t most) {
  Ids ids;
  const auto number = [&](char before, std::uint32_t otherwise) -> std::optional<std::uint32_t> {
    if (before != '\0') {
      if (text.empty() || text.front() != before) return otherwise;
      text.remove_prefix(1);
    }
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  };
  while (!text.empty()) {
    const auto first = number('\0', 0), count = number('x', 1), step = number('+', 1);
    if (!first || !count || !step || *count > most - ids.size()) return {};
    for (std::uint64_t i = 0; i < *count; ++i) {
      const std::uint64_t id = *first + i * *step;
      if (id >= kNoId) return {};
      ids.push_back(static_cast<std::uint32_t>(id));
    }
    if (!text.empty() && text.front() != ' ') return {};
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
  }
  return ids;
}

// Gives IDs to objects, which are in the order of blocks. ids: those of tags, or kNoId. Tags that
// contradict each other do not count.
void number(Ids* ids) {
  std::vector<bool> taken(ids->size());
  for (const std::uint32_t id : *ids) {
    if (id == kNoId) continue;
    if (id >= taken.size() || taken[id]) {
      std::iota(ids->begin(), ids->end(), 0U);
      return;
    }
    taken[id] = true;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& id : *ids) {
    if (id != kNoId) continue;
    while (taken[next]) ++next;
    id = next++;
  }
}

Ids inverse(const Ids& ids) {
  Ids places(ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) places[ids[i]] = i;
  return places;
}

}  // namespace

std::string text_of_ids(const FileBlock& block) {
  return text_of(block.dims) + ";" + text_of(block.vars);
}

Result<Metadata> joined(std::vector<FileBlock>& blocks,
                        const std::vector<const Metadata*>& definitions,
                        std::vector<VarPlace>* places) {
  // Dimensions that several blocks share are one in the flat file.
  struct Dim {
    std::string name;
    std::uint64_t length;
  };
  std::vector<Dim> dims;
  std::unordered_map<std::string, std::uint32_t> known;
  Ids dim_ids, var_ids;
  std::vector<VarPlace> vars;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    FileBlock& block = blocks[b];
    const Metadata& from = *definitions[b];
    const std::string_view text = block.first_ids;
    const std::size_t semicolon = std::min(text.find(';'), text.size());
    const Ids first_dims = ids_of(text.substr(0, semicolon), from.dimension_count());
    const Ids first_vars =
        ids_of(text.substr(std::min(semicolon + 1, text.size())), from.variable_count());
    for (DimId d = 0; d < from.dimension_count(); ++d) {
      const Dimension dim = from.dimension(d);
      std::string name(dim.name);
      if (d < block.own_dims && !(dim.is_record() && block.own_dims == kAllFixed))
        name = block.prefix + name;
      const auto [at, is_new] = known.emplace(name, static_cast<std::uint32_t>(dims.size()));
      if (is_new) {
        dims.push_back({name, dim.length});
        dim_ids.push_back(kNoId);
      } else if (dims[at->second].length != dim.length) {
        return Status(Code::kConflict, "dimension " + name + " has several lengths in the blocks");
      }
      if (d < first_dims.size()) dim_ids[at->second] = first_dims[d];
      block.dims.push_back(at->second);
    }
    for (VarId v = 0; v < from.variable_count(); ++v) {
      vars.push_back({b, v});
      var_ids.push_back(v < first_vars.size() ? first_vars[v] : kNoId);
    }
  }
  number(&dim_ids);
  number(&var_ids);
  Metadata all(Metadata::Names::kAsFound);
  all.check_names_at_once();
  for (const std::uint32_t i : inverse(dim_ids))
    NMB_TRY(all.def_dim(dims[i].name, dims[i].length).status());
  for (FileBlock& block : blocks)
    for (DimId& d : block.dims) d = dim_ids[d];
  for (std::size_t b = 0; b < blocks.size(); ++b)
    NMB_TRY(copy_atts(*definitions[b], kGlobal, kGlobal, &all));
  for (const std::uint32_t i : inverse(var_ids)) {
    const FileBlock& block = blocks[vars[i].block];
    const Metadata& from = *definitions[vars[i].block];
    const Variable var = from.variable(vars[i].variable);
    std::vector<DimId> own;
    for (const DimId d : var.dimensions) own.push_back(block.dims[d]);
    const std::string prefix = block.is_divided ? block.prefix : "";
    NMB_ASSIGN(const VarId made, all.def_var(prefix + std::string(var.name), var.type, own));
    NMB_TRY(copy_atts(from, vars[i].variable, made, &all));
    places->push_back(vars[i]);
  }
  for (std::size_t i = 0; i < vars.size(); ++i) blocks[vars[i].block].vars.push_back(var_ids[i]);
  return all;
}

}  // namespace nmb::pnetcdf
