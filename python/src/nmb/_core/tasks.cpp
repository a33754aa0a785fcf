// convert(), verify(), recover(), diff() and digest().
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>
#include <nmb/compare.h>
#include <nmb/convert.h>
#include <nmb/recover.h>
#include <nmb/verify.h>

#include <utility>

#include "background.h"
#include "errors.h"
#include "findings.h"
#include "handles.h"
#include "shared_options.h"
#include "text.h"

namespace nmb_python {

void bind_merge(nb::module_& module);

namespace {

// Returns (failure or none, losses, warnings).
nb::tuple convert_file(nb::handle input, nb::handle output, nb::dict options, nb::object progress) {
  const OptionValues values(std::move(options));
  Background background(std::move(progress));
  nmb::ConvertOptions all;
  all.to = kind_of(values, &all.netcdf);
  if (!values.is_none("block")) all.block = values.text("block");
  all.lossy = values.flag("lossy");
  all.storing = storing_of(values);
  all.hdf5_view = view_of(values);
  all.statistics = level_of(values);
  all.originals = values.flag("originals");
  all.replace = values.flag("replace");
  all.sync = values.flag("sync");
  all.check = values.flag("check");
  all.strict = values.flag("strict");
  all.external = external_of(values);
  all.threads = values.number<unsigned>("threads");
  all.progress = background.progress();
  all.cancel = background.cancel();
  const std::string from = from_text(input), to = from_text(output);
  nmb::ConvertReport report;
  nmb::Status status;
  background.run([&] { status = nmb::try_convert(from, to, all, &report); });
  return nb::make_tuple(status.ok() ? nb::none() : exception_of(status), to_list(report.losses),
                        to_list(report.warnings));
}

nb::object verify_file(nb::handle path, nb::dict options, nb::object progress) {
  const OptionValues values(std::move(options));
  Background background(std::move(progress));
  nmb::VerifyOptions all;
  all.level = values.choice<nmb::VerifyLevel>("level", {"index", "blocks", "data"});
  all.originals = values.flag("originals");
  all.since = values.number<std::uint64_t>("since");
  all.external = external_of(values);
  all.threads = values.number<unsigned>("threads");
  all.progress = background.progress();
  const std::string name = from_text(path);
  nmb::Result<nmb::VerifyReport> result = nmb::VerifyReport();
  background.run([&] { result = nmb::try_verify(name, all); });
  const nmb::VerifyReport report = need(std::move(result));
  nb::list findings;
  for (const nmb::Finding& finding : report.list) findings.append(to_python(finding));
  return nb::module_::import_("nmb._reports")
      .attr("VerifyReport")(report.is_sound(), to_text(report.kind), findings,
                            report.recorded_blocks, report.sound_blocks, report.damaged_blocks,
                            report.unchanged_blocks, report.bytes_read, report.originals,
                            report.whole_originals, report.reads_other_files,
                            report.incomplete.ok() ? nb::none() : exception_of(report.incomplete));
}

nb::object recover_file(nb::handle path, nb::handle output, nb::dict options, nb::object progress) {
  constexpr const char* states[] = {"whole", "partial", "unverified", "left out"};
  const OptionValues values(std::move(options));
  Background background(std::move(progress));
  nmb::RecoverOptions all;
  all.replace = values.flag("replace");
  all.sync = values.flag("sync");
  all.partial = values.flag("partial");
  all.unverified = values.flag("unverified");
  all.external = external_of(values);
  all.threads = values.number<unsigned>("threads");
  all.progress = background.progress();
  all.cancel = background.cancel();
  const std::string from = from_text(path), to = from_text(output);
  nmb::Result<nmb::Recovery> result = nmb::Recovery();
  background.run([&] { result = nmb::try_recover(from, to, all); });
  const nmb::Recovery found = need(std::move(result));
  const nb::module_ reports = nb::module_::import_("nmb._reports");
  nb::list blocks, lost;
  for (const nmb::FoundBlock& block : found.blocks) {
    nb::list elements;
    for (const nmb::LostElements& part : block.lost)
      elements.append(
          nb::make_tuple(to_text(part.variable), part.first, part.count, part.unverified));
    blocks.append(reports.attr("FoundBlock")(to_text(block.name),
                                             states[static_cast<std::size_t>(block.state)],
                                             to_text(nmb::doubt_name(block.doubt)), block.position,
                                             block.generation, elements, to_text(block.reason)));
  }
  for (const nmb::LostBlock& block : found.lost)
    lost.append(reports.attr("LostBlock")(to_text(block.name), to_text(block.reason),
                                          block.perhaps_removed));
  return reports.attr("Recovery")(
      found.is_loss(), found.recovered(), blocks, lost, found.lost_without_name,
      found.may_lack_blocks, to_list(found.other_losses), found.generation,
      found.recorded_blocks ? nb::cast(*found.recorded_blocks) : nb::none(), found.bytes_out);
}

nb::object different_value(const nb::module_& reports, const nmb::DifferentValue& value) {
  nb::list index;
  for (const std::uint64_t number : value.index) index.append(number);
  return reports.attr("DifferentValue")(nb::tuple(index), to_text(value.first),
                                        to_text(value.second));
}

nb::object compare_files(const std::shared_ptr<FileHandle>& first,
                         const std::shared_ptr<FileHandle>& second, double absolute,
                         double relative, std::size_t most, unsigned threads) {
  constexpr const char* kinds[] = {"only in first", "only in second", "differs"};
  nmb::CompareOptions all;
  all.tolerance = {absolute, relative};
  all.most_first = most;
  all.threads = threads;
  Background background{nb::none()};
  all.cancel = background.cancel();
  nmb::Result<nmb::FileComparison> result = nmb::FileComparison();
  background.run([&] { result = nmb::try_compare(first->reader, second->reader, all); });
  const nmb::FileComparison found = need(std::move(result));
  const nb::module_ reports = nb::module_::import_("nmb._reports");
  nb::list definitions, variables;
  for (const nmb::DefinitionDifference& d : found.definitions)
    definitions.append(reports.attr("DefinitionDifference")(
        kinds[static_cast<std::size_t>(d.kind)], to_text(d.block), to_text(d.object),
        to_text(d.property), to_text(d.first), to_text(d.second)));
  for (const nmb::ComparedVariable& v : found.variables) {
    nb::list some;
    for (const nmb::DifferentValue& value : v.first) some.append(different_value(reports, value));
    variables.append(reports.attr("ComparedVariable")(
        to_text(v.block), to_text(v.variable), v.values, v.different, v.missing, v.nans, some,
        v.largest ? different_value(reports, *v.largest) : nb::none(), v.largest_difference));
  }
  return reports.attr("Comparison")(found.same, definitions, variables);
}

nb::object digest_of(const std::shared_ptr<FileHandle>& file, unsigned threads) {
  Background background{nb::none()};
  nmb::Result<nmb::ContentDigest> result = nmb::ContentDigest();
  background.run([&] { result = nmb::try_digest(file->reader, threads, background.cancel()); });
  const nmb::ContentDigest found = need(std::move(result));
  nb::dict blocks;
  for (const auto& [name, digest] : found.blocks) blocks[to_text(name)] = to_text(digest);
  return nb::module_::import_("nmb._reports").attr("Digest")(to_text(found.file), blocks);
}

}  // namespace

void bind_tasks(nb::module_& module) {
  bind_merge(module);
  module.def("convert", &convert_file, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("verify", &verify_file, nb::arg(), nb::arg(), nb::arg().none());
  module.def("recover", &recover_file, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("compare", &compare_files);
  module.def("digest", &digest_of);
}

}  // namespace nmb_python
