// Header: the definitions of a file as its program sees them through an ID, and the checks of
// PnetCDF that concern them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codes.h"
#include "memory.h"
#include "model/classic.h"
#include "model/metadata.h"
#include "name_index.h"

namespace nmb::pnetcdf {

// Returns kOk, or the code for a name that netCDF does not allow (kBadName, kMaxName). text: may be
// nullptr. `normal` gets the name in Unicode's form NFC, in which netCDF stores names.
int check_name(const char* text, std::string* normal);
// The same without a copy of a name in ASCII, which is its own normal form. `normal` is valid as
// long as `text` and `kept`.
int check_name(const char* text, std::string_view* normal, std::string* kept);
// The same for a name that may have a path ahead of it ("evt3/temperature"), each part of which is
// a name.
int check_path(const char* text, std::string* normal);
// The same without a check of the characters, for names to look up.
int look_up_name(const char* text, std::string* normal);

// The definitions are in one Metadata, which the header shares with the writer from the end of
// define mode until one of them gets other definitions: a header with a million objects has 100 MB.
// A copy of a Header shares them as well.
class Header {
 public:
  Header() : all_(std::make_shared<Metadata>(Metadata::Names::kAsFound)) {}
  // all: as a file has them, so that their names are known to differ. As in PnetCDF, the variables
  // of a file that is opened are in fill mode.
  explicit Header(const Metadata& all)
      : all_(std::make_shared<Metadata>(all)), no_fill_(all.variable_count(), false) {}

  const Metadata& all() const { return *all_; }
  // Lays out the classic file of this kind, which sets the begins of variables.
  Result<ClassicLayout> lay_out(Kind kind) { return layout_classic(*all_, kind); }
  // The definitions for the writer, with all memory freed that more definitions or searches need.
  std::shared_ptr<Metadata> share();
  int dims() const { return static_cast<int>(all_->dimension_count()); }
  int vars() const { return static_cast<int>(all_->variable_count()); }
  bool has_var(int id) const { return id >= 0 && id < vars(); }
  bool has_dim(int id) const { return id >= 0 && id < dims(); }
  // Owner of attributes, for the ID of a variable or kGlobalVariable.
  static VarId owner(int variable) {
    return variable == kGlobalVariable ? kGlobal : static_cast<VarId>(variable);
  }
  int record_dim() const {
    const std::optional<DimId> found = all_->record_dimension();
    return found ? static_cast<int>(*found) : -1;
  }
  bool is_record(int variable) const {
    return all_->is_record_variable(static_cast<VarId>(variable));
  }
  int record_vars() const;
  std::optional<DimId> find_dim(std::string_view name) const {
    return dim_index_.find(name, all_->dimension_count(),
                           [&](DimId i) { return all_->dimension(i).name; });
  }
  std::optional<VarId> find_var(std::string_view name) const {
    return var_index_.find(name, all_->variable_count(),
                           [&](VarId i) { return all_->variable(i).name; });
  }
  std::optional<Attribute> att(int variable, std::string_view name) const {
    return all_->find_attribute(owner(variable), name);
  }

  bool no_fill(int variable) const { return no_fill_[static_cast<std::size_t>(variable)]; }
  void set_no_fill(int variable, bool off) { no_fill_[static_cast<std::size_t>(variable)] = off; }

  // All return a code; the arguments were checked.
  int def_dim(std::string_view name, std::uint64_t length, int* id);
  int def_var(std::string_view name, Type type, std::span<const DimId> dims, bool no_fill, int* id);
  // values: in the native type.
  int put_att(int variable, const std::string& name, Type type, std::uint64_t count,
              const std::byte* values);
  int rename_dim(int id, const std::string& name);
  int rename_var(int id, const std::string& name);
  int rename_att(int variable, const std::string& name, const std::string& to);
  int delete_att(int variable, const std::string& name);

  // Writes the fill value of a variable in its native type (at most 8 bytes).
  void fill_value(int variable, std::byte* out) const;

  // Returns kVarSize if the sizes of variables break the limits of the format.
  int check_sizes(int format) const;
  // Returns the digest of all definitions, which differs if anything differs.
  Result<std::vector<std::byte>> encoded(int format) const;
  // Takes the place of the definitions: of the rank whose definitions count.
  int decode(std::span<const std::byte> bytes);

 private:
  // Copies all definitions into a new Metadata, with what the changes say. Renaming and deletion
  // are rare, and Metadata only grows.
  struct Change {
    int dim = -1, var = -1;        // to rename
    std::optional<VarId> owner{};  // of the attribute to rename or to leave out
    std::string att{};
    std::string name{};  // the new name; empty: leaves the attribute out
  };
  int rebuild(const Change& change);
  Header(Metadata all, std::vector<bool> no_fill)
      : all_(std::make_shared<Metadata>(std::move(all))), no_fill_(std::move(no_fill)) {}

  // The definitions, to be changed: a copy if they are shared.
  Metadata& own();

  std::shared_ptr<Metadata> all_;
  mutable NameIndex dim_index_, var_index_;
  std::vector<bool> no_fill_;  // a flag for each variable
};

// Returns the bytes of an attribute's value of this type, rounded up to 4, as a header stores it.
std::uint64_t stored_bytes(Type type, std::uint64_t count);

constexpr Kind kind_of_format(int format) {
  return format == kFormatData ? Kind::kCdf5 : format == kFormatOffset ? Kind::kCdf2 : Kind::kCdf1;
}

}  // namespace nmb::pnetcdf
