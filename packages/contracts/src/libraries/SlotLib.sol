// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title SlotLib
/// @notice The one word an op occupies in the escrow: round (32 bits) | state (2) | low 222 bits of the op's hash.
/// @dev An attacker can choose both ops of a collision, so the strength is half the bits kept: 222 bits give 2^111.
library SlotLib {
    uint256 internal constant LOCKED = 1 << 222;
    uint256 internal constant CLAIMED = 2 << 222;
    uint256 internal constant REFUNDED = 3 << 222;

    uint256 private constant STATE_MASK = 3 << 222;
    uint256 private constant HASH_MASK = (1 << 222) - 1;
    uint256 private constant ROUND_SHIFT = 224;

    /// @dev The storage key of the op's word: a ring of positions per locker, so that no locker can use another's.
    function key(address locker, uint256 index) internal pure returns (uint256) {
        return uint256(uint160(locker)) << 32 | uint32(index);
    }

    /// @dev The op's word without its state. `index` is round x 2^32 + position and fits 64 bits.
    function stateless(uint256 index, bytes32 op) internal pure returns (uint256) {
        return (index >> 32) << ROUND_SHIFT | (uint256(op) & HASH_MASK);
    }

    /// @dev Whether the position can take this index: its op is closed and its round is lower. Round 0 is never accepted.
    function accepts(uint256 word, uint256 index) internal pure returns (bool) {
        return word & STATE_MASK != LOCKED && word >> ROUND_SHIFT < index >> 32;
    }

    /// @dev Whether the position has seen the index's round or a higher one, so that it never takes this index again.
    function hasSeen(uint256 word, uint256 index) internal pure returns (bool) {
        return word >> ROUND_SHIFT >= index >> 32;
    }
}
