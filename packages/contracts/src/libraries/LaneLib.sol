// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title LaneLib
/// @notice Eight positions per word, 32 bits each: the last delivered round. Reused positions never need a new word.
library LaneLib {
    /// @dev Which word of the ring holds the position.
    function row(uint256 index) internal pure returns (uint256) {
        return uint32(index) >> 3;
    }

    /// @dev The last round of the position.
    function lastRound(uint256 word, uint256 index) internal pure returns (uint256) {
        return uint32(word >> _shift(index));
    }

    /// @dev Whether the index has a higher round than the last one. Round 0 is never accepted.
    function accepts(uint256 word, uint256 index) internal pure returns (bool) {
        return lastRound(word, index) < uint32(index >> 32);
    }

    /// @dev The word with the index's round in its lane.
    function withRound(uint256 word, uint256 index) internal pure returns (uint256) {
        uint256 shift = _shift(index);
        return word & ~(uint256(type(uint32).max) << shift) | uint256(uint32(index >> 32)) << shift;
    }

    function _shift(uint256 index) private pure returns (uint256) {
        return (index & 7) << 5;
    }
}
