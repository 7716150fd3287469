"""ChaCha20 and the streams made of it: known answers, and the same bits on every instruction set."""

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from pydpmc import _core

random = _core.random
ZERO_KEY, COUNTING_KEY = bytes(32), bytes(range(32))
TEST = random.purposes["test"]

# RFC 8439: section, key, counter, nonce, key stream.
RFC_8439 = [
    (
        "2.3.2",
        COUNTING_KEY,
        1,
        "000000090000004a00000000",
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    (
        "2.4.2",
        COUNTING_KEY,
        1,
        "000000000000004a00000000",
        "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf78"
        "8a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7"
        "69a6749f3f630f4122cafe28ec4dc47e26d4346d70b98c73f3e9c53ac40c5945"
        "398b6eda1a832c89c167eacd901d7e2bf363",
    ),
    (
        "A.1 #1",
        ZERO_KEY,
        0,
        "000000000000000000000000",
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        "A.1 #2",
        ZERO_KEY,
        1,
        "000000000000000000000000",
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        "A.1 #3",
        bytes(31) + b"\x01",
        1,
        "000000000000000000000000",
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    (
        "A.1 #4",
        b"\x00\xff" + bytes(30),
        2,
        "000000000000000000000000",
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    (
        "A.1 #5",
        ZERO_KEY,
        0,
        "000000000000000000000002",
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
]


@pytest.fixture(params=_core.available_isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.isa()
    assert _core.use_isa(request.param)
    yield request.param
    _core.use_isa(before)


@pytest.mark.parametrize(("section", "key", "counter", "nonce", "key_stream"), RFC_8439)
def test_rfc_8439(isa: str, section: str, key: bytes, counter: int, nonce: str, key_stream: str) -> None:
    expected, nonce_bytes = bytes.fromhex(key_stream), bytes.fromhex(nonce)
    blocks = -(-len(expected) // 64)
    scalar = b"".join(random.chacha20_block(key, counter + i, nonce_bytes) for i in range(blocks))
    assert scalar[: len(expected)] == expected
    assert random.chacha20_blocks(key, counter, nonce_bytes, blocks)[: len(expected)] == expected


def assert_vector_equals_scalar(cases: int) -> None:
    words = random.Stream(random.key_from_seed(1), TEST, 0, 0).fill(6 * cases).reshape(cases, 6)
    for case, row in enumerate(words):
        raw = row.tobytes()
        key, nonce, counter = raw[:32], raw[32:44], int.from_bytes(raw[44:], "little")
        if case % 4 == 0:
            counter = 2**32 - 1 - counter % 40
        blocks = 1 + case % 40
        scalar = b"".join(random.chacha20_block(key, (counter + i) % 2**32, nonce) for i in range(blocks))
        assert random.chacha20_blocks(key, counter, nonce, blocks) == scalar


def test_every_instruction_set_gives_the_scalar_bits(isa: str) -> None:
    assert_vector_equals_scalar(cases=10_000)


@pytest.mark.slow
def test_every_instruction_set_gives_the_scalar_bits_in_a_million_cases(isa: str) -> None:
    assert_vector_equals_scalar(cases=1_000_000)


def test_a_stream_is_the_key_stream_of_its_purpose_chain_and_step(isa: str) -> None:
    key = random.key_from_seed(2)
    purpose, chain, step = random.purposes["accept"], 0xABCDEF, 0x0123456789ABCDEF
    nonce = struct.pack("<IQ", purpose | chain << 8, step)
    expected = np.frombuffer(random.chacha20_blocks(key, 0, nonce, 30), dtype=np.uint64)
    np.testing.assert_array_equal(random.Stream(key, purpose, chain, step).fill(240), expected)


def test_any_mix_of_single_and_bulk_draws_gives_the_same_words(isa: str) -> None:
    key = random.key_from_seed(3)
    choices = np.random.default_rng(3)
    for step in range(200):
        expected = random.Stream(key, TEST, 5, step).fill(2000)
        stream, position = random.Stream(key, TEST, 5, step), 0
        while position < 1500:
            size = int(choices.choice([0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200, 500]))
            if choices.random() < 0.5:
                drawn = stream.fill(size)
            else:
                drawn = np.array([stream.next64() for _ in range(size)], dtype=np.uint64)
            np.testing.assert_array_equal(drawn, expected[position : position + size])
            position += size


def test_no_word_is_shared_between_purposes_chains_and_steps() -> None:
    key = random.key_from_seed(4)
    chains = [0, 1, 2, 255, 256, 65536, 2**24 - 1]
    steps = [0, 1, 2, 255, 256, 2**32 - 1, 2**32, 2**33, 2**64 - 1]
    words = np.concatenate(
        [
            random.Stream(key, purpose, chain, step).fill(512)
            for purpose in random.purposes.values()
            for chain in chains
            for step in steps
        ]
    )
    assert len(np.unique(words)) == len(words)


def test_purposes_differ() -> None:
    assert len(set(random.purposes.values())) == len(random.purposes) >= 6


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="key must have 32 bytes"):
        random.Stream(bytes(31), TEST, 0, 0)
    with pytest.raises(ValueError, match="nonce must have 12 bytes"):
        random.chacha20_block(ZERO_KEY, 0, bytes(8))
    with pytest.raises(ValueError, match="chain must be below"):
        random.Stream(ZERO_KEY, TEST, 2**24, 0)
