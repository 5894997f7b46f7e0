"""Published rates of one core for checksums, ciphers and compression: priors for part files.

Each is a rate on a stated machine; `CoreRate.cycles_per_byte` carries it to another clock. Spreads are
relative standard deviations: how far another machine of the same decade and instruction set may be.
"""

from types import MappingProxyType
from typing import Final, NamedTuple


class CoreRate(NamedTuple):
    """Rate of one core for one operation."""

    rate_Bps: float  #: Bytes per second of input [B/s].
    clock_Hz: float  #: Clock it was measured at [Hz].
    spread: float  #: Relative standard deviation of the prior on another machine [1].
    source: str  #: Where it was published.

    @property
    def cycles_per_byte(self) -> float:
        """Cycles per byte, c = f / R [cycles/B]."""
        return self.clock_Hz / self.rate_Bps


_XXH = "xxHash README (github.com/Cyan4973/xxHash), Core i7-9700K; its 4.9 GHz turbo assumed"
_LZ4 = "lz4 1.9.0 README (github.com/lz4/lz4), lzbench, Core i7-9700K at 4.9 GHz, Silesia corpus"
_LZB = "lzbench 1.8 README (github.com/inikep/lzbench), Core i7-8700K, silesia.tar; its 4.7 GHz turbo assumed"
_F4 = "OpenZFS issue 11788 and truenas/linux pull 118, fletcher_4 benchmark; clock not stated, 3.5 GHz assumed"
_SSL = (
    "openssl speed -evp, OpenSSL 3.0, 16 KiB, CPU time; mean of short runs on two shared Xeon VMs, the one "
    "known 2.8 GHz nominal (turbo unknown)"
)
_MD5 = (
    "github.com/animetosho/md5-optimisation, README: a chain of steps, 4.75 cycles/B at least, 4.99 on Skylake; "
    "831 MB/s of a Granite Rapids and 887 of an M3 (aws-lc pull 2573, vllm pull 15299) are 4.6 at some 3.8 and 4.05 GHz"
)
_RZ = (
    "OpenZFS pull request 4860, vdev_raidz_bench of 2016, times 11 (8 data columns of 128 KiB and 3 of parity count "
    "as one rate a column); clock not stated, 3.5 GHz assumed"
)
_SSH = "wreck.net/ssh_speed: scp over loopback, 3.36 GB in 4.4 s, Xeon E3-1231 v3 (3.8 GHz turbo)"
_CPY = "lz4 1.9.0 README, memcpy row of lzbench, Core i7-9700K at 4.9 GHz, data in cache"

#: operation -> rate of one core. ``*_sw``: without hardware instructions.
CORE_RATES: Final = MappingProxyType(
    {
        "xxh3": CoreRate(31.5e9, 4.9e9, 0.4, _XXH),
        "xxh64": CoreRate(19.4e9, 4.9e9, 0.3, _XXH),
        "sha1": CoreRate(0.8e9, 4.9e9, 0.3, _XXH),
        "md5": CoreRate(0.6e9, 4.9e9, 0.2, _XXH),
        "md5_openssl": CoreRate(1e9, 4.99e9, 0.08, _MD5),
        "sha256_ni": CoreRate(1.3e9, 2.8e9, 0.4, _SSL + ": 1.7 and 0.94 GB/s"),
        "blake3": CoreRate(
            3.5e9, 3.5e9, 0.5, "assumed: half of the 6.9 GB/s that the BLAKE3 README shows with AVX-512"
        ),
        "fletcher4_scalar": CoreRate(4.05e9, 3.5e9, 0.3, _F4),
        "fletcher4_ssse3": CoreRate(8.6e9, 3.5e9, 0.3, _F4),
        # raidz parity made (p) and data rebuilt (lost), by OpenZFS' first code and by AVX2
        "raidz_p1_original": CoreRate(0.725e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_p2_original": CoreRate(0.308e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_p3_original": CoreRate(0.120e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_p1_simd": CoreRate(4.79e9 * 11, 3.5e9, 0.4, _RZ),
        "raidz_p2_simd": CoreRate(3.30e9 * 11, 3.5e9, 0.4, _RZ),
        "raidz_p3_simd": CoreRate(1.48e9 * 11, 3.5e9, 0.4, _RZ),
        "raidz_lost1_original": CoreRate(1.36e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_lost2_original": CoreRate(0.119e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_lost3_original": CoreRate(0.0134e9 * 11, 3.5e9, 0.3, _RZ),
        "raidz_lost1_simd": CoreRate(5.58e9 * 11, 3.5e9, 0.4, _RZ),
        "raidz_lost2_simd": CoreRate(1.63e9 * 11, 3.5e9, 0.4, _RZ),
        "raidz_lost3_simd": CoreRate(0.809e9 * 11, 3.5e9, 0.4, _RZ),
        "aes128_ctr": CoreRate(7.7e9, 2.8e9, 0.4, _SSL + ": 9.5 and 5.9 GB/s"),
        "aes128_gcm": CoreRate(3.6e9, 2.8e9, 0.4, _SSL + ": 4.3 and 3.0 GB/s"),
        "aes256_gcm": CoreRate(
            4.62e9,
            4.2e9,
            0.4,
            "github.com/lelegard/aesbench, OpenSSL 3.0 on a Core i7-8565U at 4.2 GHz: 36.7 and 37.3 Gb/s; on ten cores "
            "1.05 to 1.4 times the cycles of AES-128-GCM",
        ),
        "aes256_xts": CoreRate(
            3.9e9,
            4.0e9,
            0.4,
            "cryptsetup benchmark, aes-xts 512b: 2.3, 3.9 and 5.5 GB/s reported; clock not stated, 4 GHz assumed",
        ),
        "chacha20_poly1305": CoreRate(3.2e9, 2.8e9, 0.4, _SSL + ": 2.8 and 3.7 GB/s"),
        "openssh_aes_gcm": CoreRate(0.764e9, 3.8e9, 0.4, _SSH),
        "lz4_compress": CoreRate(0.78e9, 4.9e9, 0.3, _LZ4),
        "lz4_decompress": CoreRate(4.97e9, 4.9e9, 0.3, _LZ4),
        "zstd1_compress": CoreRate(0.515e9, 4.9e9, 0.3, _LZ4),
        "zstd1_decompress": CoreRate(1.38e9, 4.9e9, 0.3, _LZ4),
        "zstd1_kernel": CoreRate(
            0.225e9,
            3.4e9,
            0.4,
            "Linux commit 73f3d1b48f50 (lib: Add zstd modules), silesia.tar, Core i7 of 3.1 GHz; turbo of 3.4 assumed",
        ),
        "zstd3_compress": CoreRate(0.25e9, 4.7e9, 0.4, _LZB + "; between its levels 2 and 5, 356 and 104 MB/s"),
        "bzip2_compress": CoreRate(0.015e9, 4.7e9, 0.3, _LZB),
        "bzip2_decompress": CoreRate(0.041e9, 4.7e9, 0.3, _LZB),
        "xz6_compress": CoreRate(2.95e6, 4.7e9, 0.3, _LZB),
        "xz6_decompress": CoreRate(0.089e9, 4.7e9, 0.3, _LZB),
        "zlib6_compress": CoreRate(0.036e9, 4.9e9, 0.3, _LZ4),
        "zlib6_decompress": CoreRate(0.445e9, 4.9e9, 0.3, _LZ4),
        "memcpy_cached": CoreRate(13.7e9, 4.9e9, 0.3, _CPY),
    }
)
