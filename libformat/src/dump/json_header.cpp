// Dimensions, variables and attributes as JSON, schema "nmb/header/1" (see nmb/dump.h).
#include <string>

#include "dump/extended_text.h"
#include "dump/json_text.h"
#include "nmb/dump.h"

namespace nmb {
namespace {

// Text before the first element of a list is nothing, before the others a comma.
class Comma {
 public:
  void put(TextOut& out) {
    if (used_) out.put(',');
    used_ = true;
  }

 private:
  bool used_ = false;
};

// Ends the text where a value of variable length is damaged.
Status put_attribute(TextOut& out, const Metadata& metadata, const Attribute& attribute) {
  out.put("{\"name\":");
  put_json_string(out, attribute.name);
  out.put(",\"type\":\"");
  out.put(type_text(metadata, attribute.type));
  out.put("\",\"values\":");
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

Status put_attributes(TextOut& out, const Metadata& metadata, VarId owner) {
  out.put("\"attributes\":[");
  Comma comma;
  Status status;
  metadata.for_each_attribute(owner, [&](const Attribute& attribute) {
    if (!status.ok()) return;
    comma.put(out);
    status = put_attribute(out, metadata, attribute);
  });
  out.put(']');
  return status;
}

std::uint64_t length_of(const DatasetText& dataset, const Dimension& dimension) {
  return dimension.is_record() ? dataset.records : dimension.length;
}

void put_dimensions(TextOut& out, const DatasetText& dataset) {
  out.put("\"dimensions\":[");
  Comma comma;
  for (DimId id = 0; id < dataset.metadata.dimension_count(); ++id) {
    const Dimension dimension = dataset.metadata.dimension(id);
    comma.put(out);
    out.put("{\"name\":");
    put_json_string(out, dimension.name);
    out.put(",\"length\":" + std::to_string(length_of(dataset, dimension)));
    const bool grows = dimension.is_record() || may_grow(dataset.metadata, id);
    out.put(grows ? ",\"record\":true}" : ",\"record\":false}");
  }
  out.put(']');
}

Status put_variable(TextOut& out, const DatasetText& dataset, VarId id) {
  const Metadata& metadata = dataset.metadata;
  const Variable variable = metadata.variable(id);
  out.put("{\"name\":");
  put_json_string(out, variable.name);
  out.put(",\"type\":\"");
  out.put(type_text(metadata, variable.type));
  out.put("\",\"dimensions\":[");
  Comma names, lengths;
  for (DimId dim : variable.dimensions) {
    names.put(out);
    put_json_string(out, metadata.dimension(dim).name);
  }
  out.put("],\"shape\":[");
  for (DimId dim : variable.dimensions) {
    lengths.put(out);
    out.put(std::to_string(length_of(dataset, metadata.dimension(dim))));
  }
  out.put("],");
  NMB_TRY(put_attributes(out, metadata, id));
  out.put('}');
  return {};
}

}  // namespace

Status write_json_header(const DatasetText& dataset, const TextSink& sink) {
  TextOut out(sink);
  out.put("{\"schema\":\"nmb/header/1\",\"name\":");
  put_json_string(out, dataset.name);
  out.put(",\"kind\":\"cdf" + std::to_string(static_cast<int>(dataset.kind)) + "\",\"records\":");
  out.put(std::to_string(dataset.records) + ",");
  put_dimensions(out, dataset);
  out.put(',');
  NMB_TRY(put_attributes(out, dataset.metadata, kGlobal));
  out.put(",\"variables\":[");
  Comma comma;
  for (VarId id = 0; id < dataset.metadata.variable_count(); ++id) {
    comma.put(out);
    NMB_TRY(put_variable(out, dataset, id));
  }
  out.put("]}");
  return out.finish();
}

}  // namespace nmb
