// CdlHeader writes types, dimensions, variables and attributes as CDL.
#pragma once

#include <string_view>

#include "dump/cdl_text.h"
#include "dump/dump.h"
#include "dump/shown_group.h"
#include "dump/text_out.h"
#include "model/extension.h"

namespace nmb {

class CdlHeader {
 public:
  // breaks_lines: whether a string continues on a new line after each line feed, as in ncdump's
  // output of classic files.
  CdlHeader(TextOut& out, CdlForm form, bool breaks_lines)
      : out_(out), form_(form), breaks_lines_(breaks_lines) {}

  void put_name(std::string_view name, bool is_dataset = false) {
    put_cdl_name(out_, name, form_, is_dataset);
  }
  // Begins a line, indented by two blanks for each level of groups, up to 64 levels.
  void indent();
  void indent_more() { ++level_; }
  void indent_less() { --level_; }

  // Writes the definitions of a dataset or a group, and an error in place of a damaged value of
  // variable length.
  void put(const ShownGroup& group);

 private:
  void put_types(const ShownGroup& group);
  void put_type(const ShownGroup& group, Type code);
  void put_enum(const ShownGroup& group, Type code);
  void put_field(const ShownGroup& group, const ExtendedType::Field& field);
  void put_dimensions(const ShownGroup& group);
  void put_variable(const ShownGroup& group, const ShownHeader::Variable& variable);
  void put_attribute(const ShownGroup& group, VarId id, std::string_view owner,
                     const Attribute& attribute, std::uint32_t number);
  void put_type_name(const ShownGroup& group, Type code);
  void put_wrapped(std::string_view text);

  TextOut& out_;
  const CdlForm form_;
  const bool breaks_lines_;
  std::size_t level_ = 0;
  // Column in the line of an enum. As in ncdump, the indentation of the first line does not count.
  std::size_t column_ = 0;
};

// Writes the text from "netcdf NAME {" up to the global attributes. For `view` and `form`, see
// write_cdl_header().
Status put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view,
                      CdlForm form);

}  // namespace nmb
