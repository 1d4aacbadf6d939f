// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";
import {SignatureLib} from "../libraries/SignatureLib.sol";
import {EscrowBase} from "./EscrowBase.sol";

/// @title EscrowAttesters
/// @notice The sets of attesters. An op's refundDeadline alone says which set decides it, so that a later set never
///         decides an op that was locked before it.
abstract contract EscrowAttesters is EscrowBase {
    /// @dev `members` are sorted. `since` is the first refundDeadline of the ops that the set decides.
    struct AttesterSet {
        uint64 since;
        uint64 number;
        uint8 threshold;
        uint8 size;
        address[7] members;
    }

    uint256 private constant MAX_ATTESTERS = 7;
    /// @dev The longest time an op can be held, and one day to notice the proposal.
    uint256 private constant ATTESTER_DELAY = 8 days;
    /// @dev A proposal that is not accepted in this time after its delay lapses.
    uint256 private constant ACCEPT_WINDOW = 2 days;
    uint256 private constant SIGNATURE_SIZE = 64;

    /// @dev The newest set. Its number and those of its members that sign are all that most claims read.
    AttesterSet private _newest;
    AttesterSet private _proposed;
    mapping(uint256 number => AttesterSet) private _older;
    /// @inheritdoc IGeoEscrow
    bool public attestedRefundsStopped;

    constructor(address[] memory members, uint256 threshold) {
        _write(_newest, members, threshold, 0);
        emit AttestersChanged(members, threshold, 0);
    }

    /// @inheritdoc IGeoEscrow
    function proposeAttesters(address[] calldata members, uint256 threshold) external onlyTreasury {
        if (members.length == 0) {
            delete _proposed;
            emit AttestersProposed(members, 0, 0);
            return;
        }
        uint256 readyAt = block.timestamp + ATTESTER_DELAY;
        _write(_proposed, members, threshold, readyAt);
        emit AttestersProposed(members, threshold, readyAt);
    }

    /// @inheritdoc IGeoEscrow
    function acceptAttesters() external onlyTreasury {
        uint256 readyAt = _changeAt();
        if (readyAt == type(uint256).max || block.timestamp < readyAt) revert AttestersNotReady();
        uint64 number = _newest.number;
        _older[number] = _newest;
        (address[] memory members, uint256 threshold,) = _read(_proposed);
        _write(_newest, members, threshold, readyAt);
        _newest.number = number + 1;
        delete _proposed;
        emit AttestersChanged(members, threshold, readyAt);
    }

    /// @inheritdoc IGeoEscrow
    function setAttestedRefundsStopped(bool isStopped) external onlyTreasury {
        attestedRefundsStopped = isStopped;
        emit AttestedRefundsStopSet(isStopped);
    }

    /// @inheritdoc IGeoEscrow
    function attestersFor(uint256 refundDeadline) external view returns (address[] memory members, uint256 threshold) {
        (AttesterSet storage set,,) = _setFor(refundDeadline);
        (members, threshold,) = _read(set);
    }

    /// @inheritdoc IGeoEscrow
    function attesterSetCount() external view returns (uint256) {
        return uint256(_newest.number) + 1;
    }

    /// @inheritdoc IGeoEscrow
    function attesterSet(uint256 number)
        external
        view
        returns (address[] memory members, uint256 threshold, uint256 since)
    {
        return _read(number == _newest.number ? _newest : _older[number]);
    }

    /// @inheritdoc IGeoEscrow
    function proposedAttesters()
        external
        view
        returns (address[] memory members, uint256 threshold, uint256 readyAt)
    {
        if (_changeAt() != type(uint256).max) return _read(_proposed);
    }

    /// @dev The first refundDeadline that a live proposal could change the set of; the largest number without one.
    function _changeAt() internal view returns (uint256 readyAt) {
        readyAt = _proposed.since;
        if (readyAt == 0 || block.timestamp > readyAt + ACCEPT_WINDOW) return type(uint256).max;
    }

    /// @dev The set for ops with this refundDeadline, and the first and last refundDeadline that it decides.
    function _setFor(uint256 refundDeadline)
        internal
        view
        returns (AttesterSet storage set, uint256 since, uint256 last)
    {
        set = _newest;
        since = set.since;
        last = type(uint256).max;
        while (refundDeadline < since) {
            last = since - 1;
            set = _older[set.number - 1];
            since = set.since;
        }
    }

    /// @dev Members and signers are both sorted, so one pass finds every signer, and counts none twice. A member is
    ///      never the zero address, which a failed recovery returns.
    function _requireAttested(AttesterSet storage set, bytes32 structHash, bytes calldata signatures) internal view {
        uint256 threshold = set.threshold;
        if (signatures.length != threshold * SIGNATURE_SIZE) revert NotAttested();
        bytes32 digest = _hashTypedData(structHash);
        uint256 size = set.size;
        uint256 next;
        for (uint256 i; i < threshold; ++i) {
            (bytes32 r, bytes32 vs) = SignatureLib.at(signatures, i);
            address signer = SignatureLib.signer(digest, r, vs);
            while (next < size && set.members[next] != signer) ++next;
            if (next++ == size) revert NotAttested();
        }
    }

    function _write(AttesterSet storage set, address[] memory members, uint256 threshold, uint256 since) private {
        uint256 size = members.length;
        if (size == 0 || size > MAX_ATTESTERS || threshold == 0 || threshold > size) revert BadAttesters();
        address last;
        for (uint256 i; i < size; ++i) {
            if (members[i] <= last) revert BadAttesters();
            last = set.members[i] = members[i];
        }
        (set.since, set.threshold, set.size) = (uint64(since), uint8(threshold), uint8(size));
    }

    function _read(AttesterSet storage set)
        private
        view
        returns (address[] memory members, uint256 threshold, uint256 since)
    {
        members = new address[](set.size);
        for (uint256 i; i < members.length; ++i) members[i] = set.members[i];
        return (members, set.threshold, set.since);
    }
}
