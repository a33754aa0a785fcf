#include "dump/cdl_rows.h"

#include <algorithm>

#include "dump/number_text.h"
#include "model/values.h"

namespace nmb {

static bool is_real(Type type) { return type == Type::kFloat || type == Type::kDouble; }

CdlRows::CdlRows(TextOut& out, const Metadata& metadata, VarId variable, const ValueArray& array,
                 const Style& style)
    : out_(out), type_(array.type), style_(style) {
  if (TypeTable::is_extended(type_)) {
    extended_.emplace(metadata.extension()->types, array.region.get(), ValueFormat::kCdl);
    return;
  }
  fill_ = shown_fill_value(metadata, variable);
  // The fill value does not apply to values that are shown with another type.
  if (fill_.size() != type_size(type_)) fill_.clear();
  if (type_ == Type::kChar) {
    // ncgen extends a short string with the fill value.
    style_.keep_nuls |= fill_.empty() || fill_[0] != std::byte{0};
    return;
  }
  // A value of an 8-bit type that equals the default fill value is probably real data.
  if (type_size(type_) == 1 && !metadata.find_attribute(variable, "_FillValue")) fill_.clear();
}

void CdlRows::begin(std::uint64_t row) {
  if (!status_.ok()) return;
  any_ = true;
  if (row > 0) out_.put(",\n");
  out_.put(style_.indent);
  column_ = row == 0 ? style_.first_column : 0;
  column_ += style_.indent.size();
  first_in_row_ = true;
  if (type_ == Type::kChar) string_.emplace(out_, "", style_.keep_nuls);
}

void CdlRows::value(const std::byte* external) {
  if (extended_) {
    if (status_.ok()) status_ = extended_->read(type_, external);
    if (!status_.ok()) return;
    if (!first_in_row_) out_.put(", ");
    first_in_row_ = false;
    out_.put(extended_->text());
    return;
  }
  const NumberText number(type_, external);
  std::string_view text = number.text(), suffix;
  if (std::equal(fill_.begin(), fill_.end(), external) && !fill_.empty())
    text = "_";
  else if (is_real(type_) && text.find_first_of(".eNI") == text.npos &&
           (text == "-0" || text.size() > 9))
    suffix = ".";  // without the point, ncgen would read an integer; an integer has no -0, and may
                   // have only 32 bits
  else if (number.is_special() && type_ == Type::kFloat)
    suffix = "f";
  const std::size_t length = text.size() + suffix.size();
  if (!first_in_row_) {
    out_.put(',');
    if (style_.line_length > 0 && column_ + length + 3 > style_.line_length) {
      out_.put("\n    ");
      column_ = 4;
    } else {
      out_.put(' ');
      column_ += 2;
    }
  }
  first_in_row_ = false;
  out_.put(text);
  out_.put(suffix);
  column_ += length;
}

void CdlRows::end(std::uint64_t) {
  if (string_) string_->close();
  string_.reset();
}

void CdlRows::cut() {
  if (string_) string_->close();
  if (any_) out_.put('\n');
}

}  // namespace nmb
