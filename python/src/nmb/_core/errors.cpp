#include "errors.h"

#include <new>
#include <stdexcept>

#include "text.h"

namespace nmb_python {

nb::object exception_of(const nmb::Status& status, std::string_view object) {
  const std::string_view code = nmb::code_name(status.code());
  const nb::object offset =
      status.offset() == nmb::kNoOffset ? nb::none() : nb::cast(status.offset());
  return nb::module_::import_("nmb._errors")
      .attr("of_failure")(nb::str(code.data(), code.size()), to_text(status.message()),
                          to_text(status.file()), offset, to_text(status.rule()), to_text(object),
                          to_text(status.text()));
}

void raise(const nmb::Status& status, std::string_view object) {
  const nb::object exception = exception_of(status, object);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  nb::raise_python_error();
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    const auto set = [](const nmb::Status& status) {
      const nb::object exception = exception_of(status);
      PyErr_SetObject(exception.type().ptr(), exception.ptr());
    };
    try {
      std::rethrow_exception(thrown);
    } catch (const nmb::Error& error) {
      set(error.status());
    } catch (const std::bad_alloc&) {
      set(nmb::Status(nmb::Code::kLimit, "out of memory"));
    } catch (const std::length_error&) {
      set(nmb::Status(nmb::Code::kLimit, "out of memory"));
    }
  });
}

}  // namespace nmb_python
