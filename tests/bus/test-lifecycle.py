#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A session from StartSession to Remove, and every method in every state."""

import contextlib
import time
from collections.abc import Iterator

import make_replay
import tap
from service import ROOT, SESSION, Service, errors_of, private_bus, running, spin


@contextlib.contextmanager
def long() -> Iterator[Service]:
    """A daemon whose recording lasts longer than any test."""
    with private_bus() as service:
        service.start(make_replay.recording(seconds=300, rate=20), speed=1)
        yield service


@tap.case
def a_session_tells_each_state_once(service: Service) -> None:
    client = service.client()
    path = client.start(sample="all")
    client.wait_state(path, "finished")
    spin(lambda: "finished" in client.states_told(path), "the signal")
    assert client.states_told(path) == ["recording", "joining", "finished"], client.states_told(path)
    properties = client.get_all(path)
    assert properties["Result"] == "done" and properties["Message"] == ""
    assert properties["Commands"] == properties["Sampled"] == properties["Joined"] == 2000, properties
    assert properties["RecordedUSec"] == 2_000_000 and properties["HasTarget"] and properties["Lost"] == {}
    assert abs(properties["StartedUSec"] / 1e6 - time.time()) < 120
    assert ("H3", "fexit", "nvme_tcp_try_send") in properties["Hooks"] and len(properties["Hooks"]) == 5
    assert properties["Id"] == path.rsplit("/", 1)[1] and properties["DurationUSec"] == 0
    assert properties["Holds"] == []  # of a recording nothing is attached
    assert not properties["Keep"] and not properties["Detail"]


@tap.case
def the_object_manager_tells_of_its_coming_and_going(service: Service) -> None:
    client = service.client()
    path = client.start()
    client.wait_state(path, "finished")
    assert client.sessions()[path]["State"] == "finished"
    client.call(path, SESSION, "Remove")
    assert client.sessions() == {}
    spin(lambda: any(m == "InterfacesRemoved" for _, m, _ in client.signals), "InterfacesRemoved")
    added = [a for p, m, a in client.signals if m == "InterfacesAdded" and p == ROOT and a[0] == path]
    removed = [a for p, m, a in client.signals if m == "InterfacesRemoved" and p == ROOT and a[0] == path]
    assert len(added) == 1 and added[0][1][SESSION]["State"] == "preparing", added
    assert len(removed) == 1 and SESSION in removed[0][1], removed
    name, _ = errors_of(lambda: client.get(path, "State"))
    assert name == "org.freedesktop.DBus.Error.UnknownObject", name


@tap.case
def ids_are_not_used_again(service: Service) -> None:
    client = service.client()
    first = client.start()
    client.wait_state(first, "finished")
    client.call(first, SESSION, "Remove")
    assert client.start() != first


@tap.case
def two_sessions_run_beside_each_other(service: Service) -> None:
    client = service.client()
    one, other = client.start(sample="all"), client.start(sample="1/4")
    for path in (one, other):
        client.wait_state(path, "finished")
    assert client.get(one, "Joined") == 2000
    assert 300 < client.get(other, "Joined") < 700, client.get(other, "Joined")
    assert client.get(other, "Sampled") == client.get(other, "Joined")


def with_long(function) -> None:
    """A case that needs a recording that does not end."""

    def run(_service: Service) -> None:
        with long() as service:
            function(service)

    run.__name__ = function.__name__
    tap.case(run)


@with_long
def stop_returns_when_the_report_is_there(service: Service) -> None:
    client = service.client()
    path = client.start(sample="all")
    client.wait_state(path, "recording")
    spin(lambda: client.get(path, "Sampled") > 0, "commands")
    client.call(path, SESSION, "Stop")
    assert client.get(path, "State") == "finished" and client.get(path, "Result") == "done"
    report = client.report(path)
    assert report["session"]["sampled"] == sum(g["joined"] for g in report["groups"]) > 0, report
    client.call(path, SESSION, "Stop")      # does nothing


@with_long
def stop_answers_everybody_who_asked(service: Service) -> None:
    one, other = service.client(), service.client()
    path = one.start(keep=True)
    waiting = [one.begin(path, SESSION, "Stop"), other.begin(path, SESSION, "Stop"), one.begin(path, SESSION, "Stop")]
    spin(lambda: all(waiting), "three answers")
    assert waiting == [[()], [()], [()]], waiting
    assert one.get(path, "Result") == "done"


@with_long
def stop_while_it_prepares_makes_an_empty_report(service: Service) -> None:
    client = service.client()
    path = client.start(keep=True)
    client.call(path, SESSION, "Stop")      # sent before the daemon had time to attach, or after: both are right
    assert client.get(path, "Result") == "done"
    assert client.report(path)["schema"] == "org.ntprof.report/1"


@with_long
def cancel_ends_it_without_a_report(service: Service) -> None:
    client = service.client()
    path = client.start()
    client.wait_state(path, "recording")
    client.call(path, SESSION, "Cancel")
    assert client.get(path, "State") == "finished" and client.get(path, "Result") == "cancelled"
    name, message = errors_of(lambda: client.report(path))
    assert name == "NoReport" and "cancelled" in message, (name, message)
    for method in ("Cancel", "Stop", "Remove"):
        client.call(path, SESSION, method)
    assert client.sessions() == {}


@with_long
def cancel_answers_a_stop_that_waits(service: Service) -> None:
    client = service.client()
    path = client.start(sample="all")
    client.wait_state(path, "recording")
    stop, cancel = client.begin(path, SESSION, "Stop"), client.begin(path, SESSION, "Cancel")
    spin(lambda: bool(stop and cancel), "both answers")
    assert stop == [()] and cancel == [()], (stop, cancel)
    assert client.get(path, "State") == "finished"


@with_long
def remove_waits_for_nothing(service: Service) -> None:
    client = service.client()
    path = client.start()
    client.wait_state(path, "recording")
    name, message = errors_of(lambda: client.call(path, SESSION, "Remove"))
    assert name == "SessionBusy" and "recording" in message, (name, message)
    assert client.get(path, "State") == "recording"


@with_long
def a_report_so_far_can_be_had_while_it_records(service: Service) -> None:
    client = service.client()
    path = client.start(sample="all")
    client.wait_state(path, "recording")
    spin(lambda: client.report(path)["session"]["sampled"] > 20, "commands in the report so far")
    report = client.report(path)
    assert report["schema"] == "org.ntprof.report/1"
    assert client.get(path, "State") == "recording"


@with_long
def a_duration_ends_it(service: Service) -> None:
    client = service.client()
    begun = time.monotonic()
    path = client.start(duration_usec=700_000)
    client.wait_state(path, "finished")
    assert 0.7 <= time.monotonic() - begun < 10
    assert 700_000 <= client.get(path, "RecordedUSec") < 900_000, client.get(path, "RecordedUSec")


@with_long
def counters_are_told_at_most_once_a_second(service: Service) -> None:
    client = service.client()
    path = client.start(sample="all")
    client.wait_state(path, "recording")
    time.sleep(2.5)

    def told_so_far() -> list[int]:
        return [a[1]["Commands"] for p, m, a in client.signals if p == path and m == "PropertiesChanged"
                and "Commands" in a[1] and "State" not in a[1]]

    spin(lambda: len(told_so_far()) > 0, "signals")     # those of its states may have been read before the sleep
    told = told_so_far()
    assert 1 <= len(told) <= 3 and told == sorted(told), told


@with_long
def only_so_many_record_at_once(service: Service) -> None:
    client = service.client()
    paths = [client.start() for _ in range(8)]
    name, message = errors_of(client.start)
    assert name == "TooManySessions" and "8" in message, (name, message)
    client.call(paths[3], SESSION, "Cancel")
    client.start()


@tap.case
def the_oldest_reports_are_forgotten(service: Service) -> None:
    client = service.client()
    paths = []
    for _ in range(70):
        paths.append(client.start(keep=True))
        client.call(paths[-1], SESSION, "Stop")
    left = client.sessions()
    assert len(left) <= 65 and paths[-1] in left and paths[0] not in left, sorted(left)


tap.main(running)
