#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""libntprof by its GObject introspection, as a user's program in Python uses it."""

import json

import gi

gi.require_version("Ntprof", "1")
from gi.repository import GLib, Gio, Ntprof  # noqa: E402

import make_replay  # noqa: E402
import tap  # noqa: E402
from ctl import bus_only, long, short  # noqa: E402
from service import Service, Steps, spin  # noqa: E402


def options(**given: GLib.Variant) -> GLib.Variant:
    return GLib.Variant("a{sv}", {k.replace("_", "-"): v for k, v in given.items()})


def fails(code: Ntprof.Error, call) -> str:
    try:
        call()
    except GLib.Error as error:
        assert error.matches(Ntprof.error_quark(), code), error
        return error.message
    raise AssertionError("no error")


def with_long(function) -> None:
    def call(_service: Service) -> None:
        with long() as service:
            function(service)

    call.__name__ = function.__name__
    tap.case(call)


def components(report: Ntprof.Report, stage: int) -> dict[str, Ntprof.ReportComponent]:
    """Of the first group."""
    of = report.get_group(0).get_stage(stage)
    return {c.get_id(): c for c in (of.get_component(i) for i in range(of.get_n_components()))}


@tap.case
def a_report_in_detail(_service: Service) -> None:
    with short(make_replay.recording(detail=True)) as service:
        client = Ntprof.Client.new_sync(service.address, None)
        session = client.start_session_sync("nvme6n1", options(sample=GLib.Variant("s", "all"), detail=GLib.Variant("b", True)), None)
        assert session.wait_sync(None) and session.get_detail() and session.props.detail
        report = session.get_report_sync(None)
        assert report.get_detail()
        network = components(report, 2)
        stage = report.get_group(0).get_stage(2)
        document = json.loads(report.to_json())["groups"][0]["stages"][2]
        assert [c["id"] for c in document["components"]] == list(network), document
        del report
        for parent, whole in ((None, stage.get_mean_ns()), ("response", network["response"].get_mean_ns())):
            parts = [c for c in network.values() if c.get_parent() == parent and not c.is_information()]
            assert len(parts) > 1 and abs(sum(c.get_mean_ns() for c in parts) - whole) < 0.01, (parent, whole)
        receive = network["host_receive"]
        assert (receive.get_name(), receive.get_mean_ns(), receive.get_margin_ns()) == ("host receive path", 1500, 0)
        assert receive.get_reason() is None and receive.get_parent() == "response"


@tap.case
def from_start_to_the_report(service: Service) -> None:
    client = Ntprof.Client.new_sync(service.address, None)
    assert client.get_kernel() == client.props.kernel == "6.1.0-test-amd64"
    assert client.get_version() and isinstance(client.get_features(), list)
    assert client.list_sessions() == []

    session = client.start_session_sync("nvme6n1", options(sample=GLib.Variant("s", "all")), None)
    assert session.get_id() == "1" and session.get_namespace_name() == "nvme6n1" and session.props.sample == "all"
    assert session.wait_sync(None) and session.has_ended() and session.get_error() is None
    assert session.get_state() == session.props.state == Ntprof.SessionState.FINISHED and session.get_result() == "done"
    assert session.get_commands() == session.get_sampled() == session.get_joined() == 2000
    assert session.get_lost().unpack() == {} and session.get_lost_total() == 0
    assert ("H0", "tp_btf", "block_bio_queue") in session.get_hooks().unpack()
    assert client.list_sessions() == [session] and client.find_session("1") == session

    report = session.get_report_sync(None)
    document = json.loads(report.to_json())
    assert report.to_text().startswith("session     1,")
    assert report.get_session_id() == "1" and report.get_sampled() == 2000 and report.has_target()
    assert report.get_n_groups() == len(document["groups"]) == 2
    assert report.get_n_groups_by_path() == len(document["groups_by_path"]) == 0
    assert report.get_group(0).get_path_name() is None
    assert "write data transfer" in report.to_text_full(Ntprof.ReportTextFlags.DETAIL) and report.get_n_targets() == 1
    target = report.get_target(0)
    assert (target.get_machine(), target.get_peer(), target.get_ended_early()) == ("host-a", None, None)
    assert target.get_clock_offset() == (True, 0, 0) and target.get_recorded_ns() == document["targets"][0]["recorded_ns"] > 0
    for i, expected in enumerate(document["groups"]):
        group = report.get_group(i)
        assert (group.get_operation(), group.get_size_bytes(), group.get_namespace_name()) == (
            expected["op"], expected["size_bytes"], expected["namespace"])
        assert group.is_fua() is expected["fua"] is False
        assert group.get_failed() == expected["failed"] == 0
        assert group.get_mean_ns() == expected["latency"]["mean_ns"] and group.get_p99_ns() == expected["latency"]["p99_ns"]
        stages = [group.get_stage(k) for k in range(group.get_n_stages())]
        assert [s.get_id() for s in stages] == ["host_block", "host_driver", "network", "target_driver", "storage"]
        assert abs(sum(s.get_mean_ns() for s in stages) - group.get_mean_ns()) < 1
        assert abs(sum(s.get_share() for s in stages) - 1) < 1e-6 and all(s.get_avg_qd() > 0 for s in stages)
        assert group.get_largest_stage().get_id() == expected["largest"]
        assert stages[1].get_name() == "host driver (nvme-tcp)"

    assert not report.get_detail() and target.get_drive_hidden() is None
    drive = components(report, 4)["drive"]
    assert drive.get_reason() == "recorded by session start --detail only" and drive.get_mean_ns() == 0

    view = Ntprof.ReportView.QUEUE
    queues = [report.get_row(view, i) for i in range(report.get_n_rows(view))]
    assert sorted(q.get_key() for q in queues) == [1, 2] and all(q.get_path_name() == "nvme6c6n1" for q in queues)
    assert sum(q.get_commands() for q in queues) == report.get_commands() and not any(q.is_others() for q in queues)
    for queue, expected in zip(queues, document["views"]["queue"]):
        assert (queue.get_key(), queue.get_mean_ns()) == (expected["qid"], expected["latency"]["mean_ns"])
        assert queue.get_largest_stage() == expected["largest"] == "storage" and queue.has_target()
        assert queue.get_stage_mean_ns("storage") == (True, expected["stages"][4]["mean_ns"])
        assert queue.get_stage_mean_ns("network_target") == (False, 0)
        assert queue.get_host_cores() == expected["host_cores"]["list"] == str(queue.get_key() - 1)
    process = report.get_row(Ntprof.ReportView.PROCESS, 0)
    assert (process.get_key(), process.get_process_name()) == (1001, "fio"), process.get_process_name()

    # A stage outlives what it is of.
    stage = report.get_group(0).get_stage(4)
    del report
    assert stage.get_mean_ns() > 0

    session.remove_sync(None)
    spin(session.get_gone, "the removal to be told")
    assert client.list_sessions() == []


@with_long
def properties_notify(service: Service) -> None:
    client = Ntprof.Client.new_sync(service.address, None)
    added: list = []
    client.connect("session-added", lambda _c, s: added.append(s))
    session = client.start_session_sync("nvme6n1", options(keep=GLib.Variant("b", True), sample=GLib.Variant("s", "all")), None)
    told: set = set()
    session.connect("notify", lambda _s, pspec: told.add(pspec.name))
    spin(lambda: {"commands", "sampled", "joined", "recorded-usec"} <= told, "notifications")
    assert session.get_state() == Ntprof.SessionState.RECORDING and session.get_keep() and session.get_started_usec() > 0
    assert added == [session] and not session.get_detail() and not session.props.detail
    assert session.get_report_sync(None).get_n_groups() > 0       # so far

    assert session.stop_sync(None)
    assert session.get_state() == Ntprof.SessionState.FINISHED      # without a main loop
    told.clear()
    spin_a_moment()
    assert session.get_state() == Ntprof.SessionState.FINISHED and "state" not in told


def spin_a_moment() -> None:
    over: list = []
    GLib.timeout_add(300, lambda: over.append(True))
    spin(lambda: bool(over), "a moment")


@with_long
def without_blocking(service: Service) -> None:
    steps = Steps()
    step, wait, results = steps.take, steps.wait, steps.results

    Ntprof.Client.new(service.address, None, step, Ntprof.Client.new_finish)
    client = wait(1)
    assert isinstance(client, Ntprof.Client), client
    client.start_session("nvme6n1", None, None, step, client.start_session_finish)
    session = wait(2)
    assert isinstance(session, Ntprof.Session), session
    spin(lambda: session.get_commands() > 0, "commands")

    cancellable = Gio.Cancellable()
    session.wait(cancellable, step, session.wait_finish)
    cancellable.cancel()
    assert wait(3).matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED), results
    session.wait(None, step, session.wait_finish)
    session.stop(None, step, session.stop_finish)
    spin(lambda: len(results) == 5, "the end")
    assert results[3:] == [True, True], results
    session.get_report(None, step, session.get_report_finish)
    assert wait(6).get_n_groups() > 0
    client.inspect(None, step, client.inspect_finish)
    assert json.loads(wait(7))["schema"] == "org.ntprof.inspection/1"
    assert json.loads(client.inspect_namespace_sync("nvme6n1", None))["schema"] == "org.ntprof.inspection/1"
    session.cancel(None, step, session.cancel_finish)       # does nothing
    assert wait(8) is True and session.get_result() == "done"
    session.remove(None, step, session.remove_finish)
    assert wait(9) is True
    Ntprof.Client.new_for_connection(client.get_connection(), None, step, Ntprof.Client.new_for_connection_finish)
    assert isinstance(wait(10), Ntprof.Client)


@with_long
def a_connection_of_ones_own(service: Service) -> None:
    connection = service.client().connection
    client = Ntprof.Client.new_for_connection_sync(connection, None)
    assert client.get_connection() == connection
    session = client.start_session_sync("/dev/nvme6n1", None, None)
    session.cancel_sync(None)
    assert session.get_result() == "cancelled"
    error = session.get_error()
    assert error.matches(Ntprof.error_quark(), Ntprof.Error.SESSION_CANCELLED), error
    fails(Ntprof.Error.NO_REPORT, lambda: session.get_report_sync(None))


@with_long
def errors_have_codes(service: Service) -> None:
    client = Ntprof.Client.new_sync(service.address, None)
    assert "nvme9n1" in fails(Ntprof.Error.NO_SUCH_NAMESPACE, lambda: client.start_session_sync("nvme9n1", None, None))
    wrong = options(colour=GLib.Variant("s", "red"))
    assert '"colour"' in fails(Ntprof.Error.INVALID_OPTION, lambda: client.start_session_sync("nvme6n1", wrong, None))
    fails(Ntprof.Error.NO_SUCH_SESSION, lambda: client.find_session("99"))
    session = client.start_session_sync("nvme6n1", None, None)
    fails(Ntprof.Error.SESSION_BUSY, lambda: session.remove_sync(None))
    session.cancel_sync(None)
    session.remove_sync(None)
    assert fails(Ntprof.Error.NO_SUCH_SESSION, lambda: session.stop_sync(None)).startswith("session 1: ")
    assert Ntprof.error_from_name("NotFabrics") == Ntprof.Error.NOT_FABRICS


@with_long
def sessions_of_others_come_and_go(service: Service) -> None:
    watcher = Ntprof.Client.new_sync(service.address, None)
    events: list = []
    watcher.connect("session-added", lambda _c, s: events.append(("added", s.get_id())))
    watcher.connect("session-removed", lambda _c, s: events.append(("removed", s.get_id())))
    other = Ntprof.Client.new_sync(service.address, None)
    session = other.start_session_sync("nvme6n1", None, None)
    spin(lambda: events == [("added", "1")], "the addition")
    mine = watcher.find_session("1")
    assert mine != session and mine.get_owner() == session.get_owner()
    spin(lambda: mine.get_commands() > 0, "counters of another's session")
    session.cancel_sync(None)
    spin(mine.has_ended, "the end")
    session.remove_sync(None)
    spin(lambda: events == [("added", "1"), ("removed", "1")], "the removal")
    assert mine.get_gone()


@with_long
def the_daemon_crashes(service: Service) -> None:
    client = Ntprof.Client.new_sync(service.address, None)
    session = client.start_session_sync("nvme6n1", None, None)
    service.kill()
    assert "session 1" in fails(Ntprof.Error.SERVICE_GONE, lambda: session.wait_sync(None))
    assert session.get_gone() and not session.has_ended() and client.list_sessions() == []
    fails(Ntprof.Error.SERVICE_GONE, lambda: session.stop_sync(None))


@tap.case
def there_is_no_daemon(_service: Service) -> None:
    with bus_only() as service:
        fails(Ntprof.Error.NO_SERVICE, lambda: Ntprof.Client.new_sync(service.address, None))
    fails(Ntprof.Error.NO_SERVICE, lambda: Ntprof.Client.new_sync("unix:path=/nonexistent", None))


@tap.case
def reports_from_elsewhere_are_checked(_service: Service) -> None:
    for text in ("", "{}", "not JSON", '{"schema": "org.ntprof.report/9"}'):
        fails(Ntprof.Error.INVALID_DOCUMENT, lambda text=text: Ntprof.Report.new_from_json(text, -1))


tap.main(short)
