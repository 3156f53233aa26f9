#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""StartSession checks its options, and each error names the key."""

from gi.repository import GLib

import tap
from service import MANAGER, ROOT, Service, errors_of, running

V = GLib.Variant


def refused(service: Service, **options: object) -> str:
    client = service.client()
    name, message = errors_of(lambda: client.start(**options))
    assert name == "InvalidOption", f"{name}: {message}"
    assert client.sessions() == {}
    return message


@tap.case
def an_unknown_key_is_named(service: Service) -> None:
    assert refused(service, colour=V("s", "red")) == '"colour": no such option'


@tap.case
def a_hostile_key_is_escaped_and_cut(service: Service) -> None:
    message = refused(service, **{"x\n" + "y" * 5000: V("s", "")})
    assert message.startswith('"x\\n') and len(message) < 200 and "\n" not in message


@tap.case
def every_key_has_one_type(service: Service) -> None:
    wrong = {"namespace": V("u", 6), "duration_usec": V("s", "10s"), "sample": V("u", 64), "keep": V("s", "yes"),
             "detail": V("y", 1)}
    for key, value in wrong.items():
        message = refused(service, **{key: value})
        assert message.startswith(key.replace("_", "-") + ": its value has type "), message
    assert refused(service, duration_usec=V("u", 5)).startswith("duration-usec: its value has type u, not t")
    assert refused(service, keep=V("v", V("b", True))).startswith("keep: its value has type v, not b")
    assert refused(service, namespace=V("as", ["nvme6n1"])).startswith("namespace: its value has type as, not s")
    assert refused(service, namespace=V("(ss)", ("a", "b"))).startswith("namespace: ")


@tap.case
def a_namespace_is_required(service: Service) -> None:
    client = service.client()
    name, message = errors_of(lambda: client.call(ROOT, MANAGER, "StartSession", V("(a{sv})", ({},))))
    assert (name, message) == ("InvalidOption", "namespace: this option is required")


@tap.case
def a_key_may_come_once_only(service: Service) -> None:
    twice = V.new_array(V("{sv}", ("sample", V("s", "all"))).get_type(),
                        [V("{sv}", ("sample", V("s", "all"))), V("{sv}", ("sample", V("s", "auto")))])
    client = service.client()
    name, message = errors_of(lambda: client.call(ROOT, MANAGER, "StartSession", V.new_tuple(twice)))
    assert (name, message) == ("InvalidOption", "sample: given twice")


@tap.case
def samples_are_auto_all_or_a_fraction(service: Service) -> None:
    for bad in ("", "half", "1/", "1/0", "1/-1", "1/4294967296", "2/3", "1/64 ", "ALL", "1/0x10", "1/6.4", "x" * 10000):
        message = refused(service, sample=bad)
        assert message.startswith("sample: ") and len(message) < 250, message
    client = service.client()
    for good in ("auto", "all", "1/1", "1/64", "1/4294967295"):
        path = client.start(sample=good)
        assert client.get(path, "Sample") == good
        client.wait_state(path, "finished")


@tap.case
def a_namespace_must_exist(service: Service) -> None:
    client = service.client()
    for missing in ("nvme9n9", "../../etc/passwd", "", "x\ny", "n" * 100000, "/dev/nvme9n9"):
        name, message = errors_of(lambda given=missing: client.start(namespace=given))
        assert name == "NoSuchNamespace" and len(message) < 250 and "\n" not in message, (name, message)


@tap.case
def a_namespace_has_three_names(service: Service) -> None:
    client = service.client()
    for name in ("nvme6n1", "/dev/nvme6n1", "nvme6c6n1"):
        assert client.get(client.start(namespace=name), "Namespace") == "nvme6n1"


@tap.case
def other_arguments_than_options_are_refused(service: Service) -> None:
    client = service.client()
    for wrong in (V("(s)", ("nvme6n1",)), V("(a{ss})", ({"namespace": "nvme6n1"},)), None):
        name, _ = errors_of(lambda given=wrong: client.call(ROOT, MANAGER, "StartSession", given))
        assert name == "org.freedesktop.DBus.Error.InvalidArgs", name


@tap.case
def an_inspection_can_be_of_a_namespace(service: Service) -> None:
    client = service.client()
    for value, name in ((V("s", "nvme6n1"), None), (V("s", "nvme9n9"), "NoSuchNamespace"), (V("u", 6), "InvalidOption")):
        given = V("(a{sv})", ({"namespace": value},))
        if name:
            assert errors_of(lambda given=given: client.call(ROOT, MANAGER, "Inspect", given))[0] == name, value
        else:
            client.call_fds(ROOT, MANAGER, "Inspect", given)


@tap.case
def methods_without_options_say_so(service: Service) -> None:
    client = service.client()
    given = V("(a{sv})", ({"verbose": V("b", True)},))
    assert errors_of(lambda: client.call(ROOT, MANAGER, "Inspect", given)) == ("InvalidOption", '"verbose": no such option')
    path = client.start()
    client.wait_state(path, "finished")
    assert errors_of(lambda: client.call(path, "org.ntprof1.Session", "GetReport", given))[0] == "InvalidOption"


tap.main(running)
