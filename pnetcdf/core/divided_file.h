// A file whose variables are divided among blocks by their names (NMB_BLOCKS), while the program
// sees one flat file; and the way back when such a file is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/metadata.h"
#include "reader/file_reader.h"
#include "writer/file_writer.h"

namespace nmb::pnetcdf {

// A block of a file that is open.
struct FileBlock {
  std::string name;
  // Prefix of the names of its variables, and of its first `own_dims` dimensions, in the flat file.
  // Its other dimensions have the same names there.
  std::string prefix{};
  std::uint32_t own_dims = 0;
  // The IDs that its dimensions and variables have in the flat file.
  std::vector<DimId> dims{};
  std::vector<VarId> vars{};
  // The tag with the IDs that they had when the block was defined.
  std::string first_ids{};
  // Returns whether a name of the flat file has the prefix and a rest.
  bool has_prefix(std::string_view flat) const {
    return flat.starts_with(prefix) && flat.size() > prefix.size();
  }
  bool is_divided = false;                      // whether the rule made the block
  BlockId id = 0;                               // of the writer
  bool is_stored = false;                       // whether the writer has the block
  std::shared_ptr<const LoadedBlock> loaded{};  // of files that are only read
};

// Where a variable of the flat file is.
struct VarPlace {
  std::uint32_t block = 0;
  VarId variable = 0;
};

struct DividedFile {
  std::vector<FileBlock> blocks;
  std::vector<Metadata> definitions;  // one for each block
  std::vector<VarPlace> places;       // one for each variable
};

// Divides definitions. main: the block of what the rule does not match, the global attributes among
// them. before: the blocks that the file has already, which keep their objects. Errors: kUsage for
// a wrong rule; kExists if two names of a block become the same; kUnsupported if an object of
// `before` has a name without its block's prefix.
Result<DividedFile> divide(const Metadata& all, const std::string& main, const std::string& rule,
                           const std::vector<FileBlock>& before);

// Divides definitions by the paths in their names: `evt3/t` is `t` of block `evt3`, and a name
// without a path is of the root block. The record dimension has no path; blocks whose variables
// have it get it too. needs_one: whether to make a block if nothing is defined.
Result<DividedFile> divide_by_path(const Metadata& all, bool needs_one);
// The block that such a name begins with, or "".
inline std::string_view path_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}
// A block whose dimensions and variables all have its name as a path in the flat file.
FileBlock path_block(std::string_view name);

// Copies the attributes of an object.
Status copy_atts(const Metadata& from, VarId owner, VarId to_owner, Metadata* to);

// Tags of divided blocks: prefix, own_dims, and IDs.
inline constexpr std::string_view kPrefixTag = "pnetcdf_prefix", kDimsTag = "pnetcdf_dims",
                                  kIdsTag = "pnetcdf_ids";
// Returns the value of kIdsTag: the IDs of dimensions, a semicolon, and the IDs of variables. IDs
// are runs such as `7`, `3x5` (3 to 7) and `3x5+2` (3, 5, 7, 9, 11), with blanks between them.
std::string text_of_ids(const FileBlock& block);

// Finds the blocks of a file that a rule has divided, in the order of their definition; no blocks
// if the file was not divided so. Reads all tags.
Result<std::vector<FileBlock>> divided_blocks(const FileReader& reader);

// Joins the definitions of blocks. Objects get the IDs of the tags, and all others the free IDs in
// the order of blocks; if the tags contradict each other, they do not count. blocks: get the IDs.
// places: gets the place of each variable.
Result<Metadata> joined(std::vector<FileBlock>& blocks,
                        const std::vector<const Metadata*>& definitions,
                        std::vector<VarPlace>* places);

}  // namespace nmb::pnetcdf
