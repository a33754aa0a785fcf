#include "dump/json_rows.h"

namespace nmb {

JsonRows::JsonRows(TextOut& out, const Metadata& metadata, const ValueArray& array,
                   const Hyperslab& slab)
    : out_(out), type_(array.type), is_scalar_(slab.count.empty()) {
  if (TypeTable::is_extended(type_))
    extended_.emplace(metadata.extension()->types, array.region.get(), ValueFormat::kJson);
  if (is_scalar_) return;
  rows_in_.resize(slab.count.size() - 1);
  std::uint64_t rows = 1;
  for (std::size_t d = rows_in_.size(); d-- > 0;) rows_in_[d] = rows *= slab.count[d];
}

void JsonRows::begin(std::uint64_t row) {
  if (!status_.ok()) return;
  rows_ = row + 1;
  in_row_ = true;
  if (row > 0) out_.put(',');
  for (std::uint64_t rows : rows_in_)
    if (row % rows == 0) out_.put('[');
  if (type_ == Type::kChar)
    string_.emplace(out_);
  else if (!is_scalar_)
    out_.put('[');
  first_in_row_ = true;
}

void JsonRows::value(const std::byte* external) {
  if (extended_ && status_.ok()) status_ = extended_->read(type_, external);
  if (!status_.ok()) return;
  if (!first_in_row_) out_.put(',');
  first_in_row_ = false;
  if (extended_)
    out_.put(extended_->text());
  else
    put_json_number(out_, type_, external);
}

void JsonRows::end(std::uint64_t row) {
  if (!status_.ok()) return;
  in_row_ = false;
  if (string_)
    string_->close();
  else if (!is_scalar_)
    out_.put(']');
  for (std::uint64_t rows : rows_in_)
    if ((row + 1) % rows == 0) out_.put(']');
}

void JsonRows::cut() {
  if (rows_ == 0) return;
  if (in_row_ && string_)
    string_->close();
  else if (in_row_)
    out_.put(is_scalar_ ? "null" : "]");
  for (std::uint64_t rows : rows_in_)
    if (in_row_ || rows_ % rows != 0) out_.put(']');
}

}  // namespace nmb
