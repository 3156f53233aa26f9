/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * NTPROF_ERROR:
 *
 * Error domain of libntprof. Codes are of [error@Error]; the message says what failed, on what, why and what to do.
 */
#define NTPROF_ERROR (ntprof_error_quark())
GQuark ntprof_error_quark(void);

/**
 * NtprofError:
 * @NTPROF_ERROR_FAILED: an error this version of the library has no code for
 * @NTPROF_ERROR_INVALID_OPTION: an option's key is unknown, or its type or value is wrong; the message begins with the key
 * @NTPROF_ERROR_NO_SUCH_NAMESPACE: no such block device, or it is no NVMe namespace
 * @NTPROF_ERROR_NOT_FABRICS: an NVMe namespace, but a local drive's
 * @NTPROF_ERROR_TRANSPORT_UNSUPPORTED: NVMe-oF over a transport that this version does not measure
 * @NTPROF_ERROR_KERNEL_UNSUPPORTED: the kernel lacks something without which there is no report
 * @NTPROF_ERROR_TOO_MANY_SESSIONS: as many sessions record already as the service allows
 * @NTPROF_ERROR_SESSION_BUSY: the session has not ended yet
 * @NTPROF_ERROR_NO_REPORT: the session has no report
 * @NTPROF_ERROR_CAPTURE_FAILED: loading, attaching or reading the programs in the kernel failed
 * @NTPROF_ERROR_ACCESS_DENIED: the caller may not do this
 * @NTPROF_ERROR_NO_SUCH_SESSION: no such session
 * @NTPROF_ERROR_SHUTTING_DOWN: the service is ending, and the session with it
 * @NTPROF_ERROR_NO_PEER: no paired machine is the target of the namespace, or none is called so
 * @NTPROF_ERROR_PEER_UNREACHABLE: the paired machine does not answer, or what answers is not it
 * @NTPROF_ERROR_PEER_REFUSED: the other machine answered, and won't
 * @NTPROF_ERROR_PEER_VERSION: the two machines' versions have no protocol in common
 * @NTPROF_ERROR_INVITATION_INVALID: the line of an invitation is mistyped, expired, used, or not of that machine
 * @NTPROF_ERROR_PEER_EXISTS: there is a peer of that name or fingerprint already, or one that has that host NQN
 * @NTPROF_ERROR_NO_SERVICE: the service isn't on the bus and could not be started, or there is no bus
 * @NTPROF_ERROR_SERVICE_GONE: the service, or the bus, went away while it was needed
 * @NTPROF_ERROR_TIMED_OUT: the service did not answer in time
 * @NTPROF_ERROR_INVALID_DOCUMENT: a document of the service can't be read or isn't what it should be
 * @NTPROF_ERROR_SESSION_CANCELLED: the session was cancelled, so there is no report
 *
 * What can go wrong. The codes up to 99 are the errors `org.ntprof1.Error.*` of the service, those from 100 on are found
 * by the library itself.
 */
typedef enum {
        NTPROF_ERROR_FAILED = 0,
        NTPROF_ERROR_INVALID_OPTION = 1,
        NTPROF_ERROR_NO_SUCH_NAMESPACE = 2,
        NTPROF_ERROR_NOT_FABRICS = 3,
        NTPROF_ERROR_TRANSPORT_UNSUPPORTED = 4,
        NTPROF_ERROR_KERNEL_UNSUPPORTED = 5,
        NTPROF_ERROR_TOO_MANY_SESSIONS = 6,
        NTPROF_ERROR_SESSION_BUSY = 7,
        NTPROF_ERROR_NO_REPORT = 8,
        NTPROF_ERROR_CAPTURE_FAILED = 9,
        NTPROF_ERROR_ACCESS_DENIED = 10,
        NTPROF_ERROR_NO_SUCH_SESSION = 11,
        NTPROF_ERROR_SHUTTING_DOWN = 12,
        NTPROF_ERROR_NO_PEER = 13,
        NTPROF_ERROR_PEER_UNREACHABLE = 14,
        NTPROF_ERROR_PEER_REFUSED = 15,
        NTPROF_ERROR_PEER_VERSION = 16,
        NTPROF_ERROR_INVITATION_INVALID = 17,
        NTPROF_ERROR_PEER_EXISTS = 18,

        NTPROF_ERROR_NO_SERVICE = 100,
        NTPROF_ERROR_SERVICE_GONE = 101,
        NTPROF_ERROR_TIMED_OUT = 102,
        NTPROF_ERROR_INVALID_DOCUMENT = 103,
        NTPROF_ERROR_SESSION_CANCELLED = 104,
} NtprofError;

const char *ntprof_error_to_name(NtprofError code);
NtprofError ntprof_error_from_name(const char *name);

G_END_DECLS
