// Writes dimensions, variables and attributes as JSON with schema "nmb/header/1" (see dump/dump.h).
#include <string>

#include "dump/dump.h"
#include "dump/extended_text.h"
#include "dump/json_text.h"
#include "dump/shown_header.h"
#include "wire/joined_text.h"

namespace nmb {
namespace {

// Writes a comma before each element of a list except the first.
class Comma {
 public:
  void put(TextOut& out) {
    if (used_) out.put(',');
    used_ = true;
  }

 private:
  bool used_ = false;
};

// Writes one attribute. Fails if a value of variable length is damaged.
Status put_attribute(TextOut& out, const Metadata& metadata, const Attribute& attribute) {
  out.put("{\"name\":");
  put_json_string(out, attribute.name);
  out.put(",\"type\":");
  put_json_string(out, type_text(metadata, attribute.type));
  out.put(",\"values\":");
  if (TypeTable::is_extended(attribute.type)) {
    out.put('[');
    NMB_TRY(
        put_extended_attribute(out, metadata.extension()->types, attribute, ValueFormat::kJson));
    out.put(']');
  } else if (attribute.type == Type::kChar) {
    put_json_string(
        out, {reinterpret_cast<const char*>(attribute.values.data()), attribute.values.size()});
  } else {
    out.put('[');
    Comma comma;
    for (std::uint64_t i = 0; i < attribute.count; ++i) {
      comma.put(out);
      put_json_number(out, attribute.type, attribute.values.data() + i * type_size(attribute.type));
    }
    out.put(']');
  }
  out.put('}');
  return {};
}

Status put_attributes(TextOut& out, const Metadata& metadata, const ShownHeader& shown,
                      VarId owner) {
  out.put("\"attributes\":[");
  Comma comma;
  Status status;
  shown.for_each_attribute(owner, [&](const Attribute& attribute, std::uint32_t) {
    if (!status.ok()) return;
    comma.put(out);
    status = put_attribute(out, metadata, attribute);
  });
  out.put(']');
  return status;
}

void put_dimensions(TextOut& out, const ShownHeader& shown) {
  out.put("\"dimensions\":[");
  Comma comma;
  for (std::uint32_t d = 0; d < shown.dimension_count(); ++d) {
    const ShownHeader::Dimension dimension = shown.dimension(d);
    comma.put(out);
    out.put("{\"name\":");
    put_json_string(out, dimension.name);
    out.put(joined_text(",\"length\":", dimension.length));
    out.put(dimension.may_grow ? ",\"record\":true}" : ",\"record\":false}");
  }
  out.put(']');
}

Status put_variable(TextOut& out, const DatasetText& dataset, const ShownHeader& shown,
                    const ShownHeader::Variable& variable) {
  const Metadata& metadata = dataset.metadata;
  const Variable stored = metadata.variable(variable.id);
  out.put("{\"name\":");
  put_json_string(out, variable.name);
  out.put(",\"type\":");
  put_json_string(out, type_text(metadata, stored.type));
  out.put(",\"dimensions\":[");
  Comma names, lengths;
  for (const std::uint32_t d : variable.dimensions) {
    names.put(out);
    put_json_string(out, shown.dimension(d).name);
  }
  out.put("],\"shape\":[");
  for (const DimId id : stored.dimensions) {
    const Dimension dimension = metadata.dimension(id);
    lengths.put(out);
    out.put(std::to_string(dimension.is_record() ? dataset.records : dimension.length));
  }
  out.put("],");
  NMB_TRY(put_attributes(out, metadata, shown, variable.id));
  out.put('}');
  return {};
}

}  // namespace

Status write_json_header(const DatasetText& dataset, const TextSink& sink, const NetcdfView* view) {
  TextOut out(sink);
  const ShownHeader shown(dataset, view);
  out.put("{\"schema\":\"nmb/header/1\",\"name\":");
  put_json_string(out, dataset.name);
  out.put(joined_text(",\"kind\":\"cdf", static_cast<int>(dataset.kind), "\",\"records\":"));
  out.put(joined_text(dataset.records, ","));
  put_dimensions(out, shown);
  out.put(',');
  NMB_TRY(put_attributes(out, dataset.metadata, shown, kGlobal));
  out.put(",\"variables\":[");
  Comma comma;
  for (std::uint32_t v = 0; v < shown.variable_count(); ++v) {
    comma.put(out);
    NMB_TRY(put_variable(out, dataset, shown, shown.variable(v)));
  }
  out.put("]}");
  return out.finish();
}

}  // namespace nmb
