// The two kinds of rows that `nminspect ls` lists: blocks and objects.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/printing/json_document.h"
#include "common/printing/table.h"
#include "handles/inspected_file.h"
#include "nmb/statistics.h"
#include "nminspect/pattern_option.h"
#include "nminspect/view_option.h"

namespace nmb::tools {

// Tags of blocks by BlockEntry::order.
using TagsByOrder = std::unordered_map<std::uint64_t, std::vector<Tag>>;

struct ListedColumns {
  bool is_long = false;               // all columns
  const TagsByOrder* tags = nullptr;  // set if the tags of blocks are listed
};

// Each kind of row has the following functions. columns() returns the columns of the listing; the
// name is the last column. for_each(file, choice, view, visit) visits the chosen rows in the
// order of the index, until `visit` returns false. name() and size() return the keys for sorting;
// the size is in bytes. cells() returns the texts of the columns, and json() returns the row for
// JSON.
struct BlockRow {
  BlockEntry entry;

  static constexpr const char* kPlural = "blocks";
  static std::vector<Table::Column> columns(const ListedColumns& listed);
  static Status for_each(const InspectedFile& file, const PatternOption& choice,
                         const ViewOption& view,
                         const std::function<Result<bool>(BlockRow)>& visit);
  std::string name() const;
  // Returns the size of the metadata plus the size of the values.
  std::uint64_t size() const { return entry.stored_length + entry.extent_length; }
  std::vector<std::string> cells(const ListedColumns& listed, bool exact) const;
  Json json(const ListedColumns& listed) const;
};

struct ObjectRow {
  std::string block, variable;
  std::string type;
  std::vector<std::string> dimensions;
  std::vector<std::uint64_t> lengths;
  std::uint64_t bytes = 0;

  static constexpr const char* kPlural = "objects";
  static std::vector<Table::Column> columns(const ListedColumns& listed);
  static Status for_each(const InspectedFile& file, const PatternOption& choice,
                         const ViewOption& view,
                         const std::function<Result<bool>(ObjectRow)>& visit);
  std::string name() const;
  // Returns the size of the values.
  std::uint64_t size() const { return bytes; }
  std::vector<std::string> cells(const ListedColumns& listed, bool exact) const;
  Json json(const ListedColumns& listed) const;
};

}  // namespace nmb::tools
