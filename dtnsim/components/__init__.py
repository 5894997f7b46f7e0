"""The kinds of components: parameters, and how an access becomes stations and demands.

Begin with `device` (drives, arrays, layers) or `filesystem` and one kind of each (`ssd`, `raid`; `local`, `nfs`,
`lustre`); what asks them is `access`, what they charge is a row of `dtnsim.ground.ledger`. `base` finds kinds by the
names of their files, `model` says what is wrong in a file. A host is put together in `cores`, `wiring` and `buses`.
What a file system does without data is `file_operations`. Those on drives are `disk_filesystem`; shared ones have
`servers` and `metadata_servers`, those that stripe files are `parallel`, mounts of one server `remote`.

A file is a kind of its name, or a family of kinds; those are named here, so that asking which there are imports none.
"""

from typing import Final

#: file of a family -> its kinds
TOGETHER: Final = {
    "ceph": "cephfs rbd",
    "chassis": "board chassis expander slot",
    "cloud": "allowance cloud-disk",
    "device_mapper": "dm-crypt lvm",
    "jbod": "jbod unlike",
    "local": "btrfs ext4 local none tmpfs unknown xfs",
    "middlebox": "encryptor firewall policer",
    "nfs": "nfs vast",
    "offload": "crypto-accelerator dpu",
    "remote_block": "iscsi nvme-of",
    "vdevs": "draid mirror raidz",
}
