"""The kinds of components: parameters, and how an access becomes stations and demands.

Begin with `device` (drives, arrays, layers) or `filesystem` and one kind of each (`ssd`, `raid`; `local`, `nfs`,
`lustre`); what asks them is `access`, what they charge is a row of `dtnsim.ground.ledger`. `base` finds kinds by the
names of their files, `model` says what is wrong in a file. A host is put together in `cores`, `wiring` and `buses`.
File systems on drives are `disk_filesystem`; shared ones have `servers`, those that stripe files are
`parallel`, mounts of one server `remote`.

What methods take has one name everywhere: the ``row`` that is charged; the ``use`` of a ``volume``, which goes by its
mount point, and the ``host``, the machine that it is on; ``name``, that of the component, after which its stations are
named, or ``label``, that of a volume's; ``text``, the activity in words; ``cycles`` that a byte costs, with formula and
source, and the ``thread``, with the number of its copies, that they cost; ``near``, the socket of the card (or of the
drives) that the work is about, None where it is of none; ``array``, the device below, ``copies``, equal ones that share
the bytes; ``visit_B``, contiguous bytes that one stream gets of a device before the next one's turn, None where nobody
says; ``request`` or ``size``, bytes of one of those; ``wire``, bytes on it per payload byte; ``packet_B``, payload of a
packet; ``direction``, tx or rx, ``sending`` or ``receiving`` (``reading``), whether bytes leave or come in; ``streams``
or ``flows``, connections at once; ``rtt_s`` or ``away_s``, the round-trip time to the servers; ``medium``, the kind of
network; ``operations`` of a file, by name; ``file_B``, its size, ``total_B``, bytes of the whole transfer; ``stack``,
what the kernel costs; ``memory_B``, memory of the host, ``held_B``, what programs of the path hold of it meanwhile;
``draw``, which gives a quantity its value; ``raw``, what a file says, ``key``, where, and ``family``, what is due
there, for messages; ``to_host``, whether bytes come from a card, whose link has ``card_lanes`` of a
``card_generation``; ``arrays``, equal ones that share the bytes, and ``members``, those of one (or of ``copies``) that
are waited for; ``met``, whether, or how many, files the same host has made just before; ``remedy``, what relieves a
station where its kind does not say it, and ``changes``, those of its ways that can be tried.

A file is a kind of its name, or a family of kinds; those are named here, so that asking which there are imports none.
"""

from typing import Final

#: file of a family -> its kinds
TOGETHER: Final = {
    "ceph": "cephfs rbd",
    "chassis": "board chassis expander slot",
    "cloud": "allowance cloud-disk",
    "cores": "cpu",
    "device_mapper": "dm-crypt lvm",
    "jbod": "jbod unlike",
    "local": "btrfs ext4 local none tmpfs unknown xfs",
    "middlebox": "encryptor firewall policer",
    "nfs": "nfs vast",
    "nic": "hba nic",
    "offload": "crypto-accelerator dpu",
    "remote_block": "iscsi nvme-of",
    "vdevs": "draid mirror raidz",
}
