// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title HourlyCapLib
/// @notice A limit per clock hour in one word: limit (112 bits) | spent (112) | mark (1) | hour (31). An unset word allows
///         nothing. The mark is the caller's, for something it must know with every payment.
/// @dev Hours are fixed windows: two neighbouring windows together allow at most twice the limit.
library HourlyCapLib {
    uint256 internal constant MAX_LIMIT = type(uint112).max;

    uint256 private constant LIMIT_SHIFT = 144;
    uint256 private constant SPENT_SHIFT = 32;
    uint256 private constant MARK = 1 << 31;
    uint256 private constant HOUR_MASK = MARK - 1;

    /// @dev The amount spent in the current hour.
    function spent(uint256 word) internal view returns (uint256) {
        return word & HOUR_MASK == _hour() ? uint112(word >> SPENT_SHIFT) : 0;
    }

    /// @dev The limit per hour.
    function limit(uint256 word) internal pure returns (uint256) {
        return word >> LIMIT_SHIFT;
    }

    /// @dev Whether the word has the mark.
    function isMarked(uint256 word) internal pure returns (bool) {
        return word & MARK != 0;
    }

    /// @dev The amount left in the current hour: 0 if a lowered limit is already exceeded.
    function room(uint256 word) internal view returns (uint256) {
        uint256 used = spent(word);
        uint256 most = limit(word);
        unchecked {
            return used < most ? most - used : 0;
        }
    }

    /// @dev The word after spending. The caller has checked `amount <= room(word)`, so the field cannot overflow.
    function spend(uint256 word, uint256 amount) internal view returns (uint256) {
        unchecked {
            return limit(word) << LIMIT_SHIFT | (spent(word) + amount) << SPENT_SHIFT | word & MARK | _hour();
        }
    }

    /// @dev The word with another limit and the same amount spent this hour. The caller has checked MAX_LIMIT.
    function withLimit(uint256 word, uint256 newLimit) internal view returns (uint256) {
        return newLimit << LIMIT_SHIFT | spent(word) << SPENT_SHIFT | word & MARK | _hour();
    }

    /// @dev The word with or without the mark.
    function withMark(uint256 word, bool isSet) internal pure returns (uint256) {
        return isSet ? word | MARK : word & ~MARK;
    }

    function _hour() private view returns (uint256) {
        return block.timestamp / 1 hours & HOUR_MASK;
    }
}
