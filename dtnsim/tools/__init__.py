"""The transfer tools: their options under the names the tools use, and what they do to a byte.

Begin with `plan` (what a tool says to the composer: steps, threads, connections, files) and a short tool, `bbcp` or
`fts`; what several share is in `_common`, `_options`, `_ssh` and `_s3`. A file is a tool of its name, or a family of
tools; those are named here, so that asking which tools there are imports none.

What functions take has one name everywhere: the ``job`` that a tool is asked to do, and the ``tool`` by its name; the
``thread`` that reads or writes, ``block`` bytes at once, how many ``workers`` have files or parts in progress, the
``queue_depth`` of requests that each has in flight, whether they go past the page cache, ``direct``, what writes wait
for, ``finish``, and ``how`` else it is, as an access has it; which ``end``; of log-ins, how many ``connections`` do it
at once, the ``round_trips`` of messages that wait, and the work of ``each`` alone; the ``sender`` and ``receiver``,
threads at source and destination; the ``activity``, or a ``noun``, in words, and ``why``.
"""

from typing import Final

#: file of a family -> its tools
TOGETHER: Final = {
    "backup": "borg crashplan restic",
    "disk_tests": "bonnie dd ior iozone mdtest",
    "ftp": "bbftp ftp lftp",
    "gridftp": "globus gridftp",
    "http": "aria2 curl pelican",
    "local_copy": "cp nfs-cp program rm robocopy",
    "movers": "ascp condor fdt wdt",
    "network_tests": "iperf2 iperf3 netperf ntttcp nuttcp perftest",
    "object_tests": "rados-bench warp",
    "openssh": "hpnscp mscp scp sftp",
    "rsync": "fpsync msrsync parsyncfp rsync rsync-parallel",
    "s3_clients": "aws-s3 mc s5cmd",
    "tar": "tar tar-nc tar-ssh",
}
