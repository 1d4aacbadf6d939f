// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title TestFeed
/// @notice A price feed for local networks with Chainlink's AggregatorV3Interface: anyone can set the answer.
contract TestFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    /// @dev As in Chainlink's aggregators.
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    /// @dev There is no such round.
    error NoData();

    /// @notice Required by AggregatorV3Interface.
    uint256 public constant version = 1;
    /// @notice Decimals of the answers.
    uint8 public immutable decimals;
    /// @notice The pair of the answers, such as "ETH / USD".
    string public description;

    mapping(uint80 id => Round) private _rounds;
    uint80 private _latest;

    constructor(uint8 decimals_, string memory description_, int256 answer) {
        decimals = decimals_;
        description = description_;
        updateAnswer(answer);
    }

    /// @notice Starts a new round with this answer and the current time.
    /// @param answer The answer.
    function updateAnswer(int256 answer) public {
        uint80 id = ++_latest;
        _rounds[id] = Round(answer, block.timestamp);
        emit AnswerUpdated(answer, id, block.timestamp);
    }

    /// @notice Starts a new round with the last answer, so that it is fresh again.
    function touch() external {
        updateAnswer(_rounds[_latest].answer);
    }

    /// @notice The last round.
    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(_latest);
    }

    /// @notice A round: id, answer, start, update, and the round it was answered in.
    /// @param id The round.
    function getRoundData(uint80 id) public view returns (uint80, int256, uint256, uint256, uint80) {
        Round storage round = _rounds[id];
        if (round.updatedAt == 0) revert NoData();
        return (id, round.answer, round.updatedAt, round.updatedAt, id);
    }
}
