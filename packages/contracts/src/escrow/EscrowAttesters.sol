// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";
import {SignatureLib} from "../libraries/SignatureLib.sol";
import {EscrowBase} from "./EscrowBase.sol";

/// @title EscrowAttesters
/// @notice The sets of attesters. An op's refundDeadline alone says which set decides it, and a set that is
///         accepted later never decides an op that was locked before.
abstract contract EscrowAttesters is EscrowBase {
    /// @dev `since` is the first refundDeadline of the ops that the set decides. Members are sorted; the first shares the
    ///      word that every attestation reads.
    struct AttesterSet {
        uint40 since;
        uint32 number;
        uint8 threshold;
        uint8 size;
        address first;
        address[6] others;
    }

    /// @dev The longest time an op can hold a wallet's funds.
    uint256 internal constant MAX_HOLD = 7 days;
    uint256 private constant MAX_ATTESTERS = 7;
    /// @dev The time to notice a proposal and withdraw it.
    uint256 private constant PROPOSAL_DELAY = 1 days;
    /// @dev A proposal that is not accepted in this time after its delay lapses.
    uint256 private constant ACCEPT_WINDOW = 2 days;
    uint256 private constant SIGNATURE_SIZE = 64;

    /// @dev The newest set. Its first word and those of its members that sign are all that most claims read.
    AttesterSet private _newest;
    /// @dev Its `since` is the first second at which it can be accepted.
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
        uint256 readyAt = block.timestamp + PROPOSAL_DELAY;
        _write(_proposed, members, threshold, readyAt);
        emit AttestersProposed(members, threshold, readyAt);
    }

    /// @inheritdoc IGeoEscrow
    function acceptAttesters() external onlyTreasury {
        if (!_isLive() || block.timestamp < _proposed.since) revert AttestersNotReady();
        // Later than the refundDeadline of every op that is locked now, or was: the set decides none of them.
        uint256 since = block.timestamp + MAX_HOLD + 1;
        uint32 number = _newest.number;
        _older[number] = _newest;
        Attesters memory proposed = _read(_proposed);
        _write(_newest, proposed.members, proposed.threshold, since);
        _newest.number = number + 1;
        delete _proposed;
        emit AttestersChanged(proposed.members, proposed.threshold, since);
    }

    /// @inheritdoc IGeoEscrow
    function setAttestedRefundsStopped(bool isStopped) external onlyTreasury {
        attestedRefundsStopped = isStopped;
        emit AttestedRefundsStopSet(isStopped);
    }

    /// @inheritdoc IGeoEscrow
    function attestersFor(uint256 refundDeadline) external view returns (address[] memory members, uint256 threshold) {
        (AttesterSet storage set,,) = _setFor(refundDeadline);
        Attesters memory found = _read(set);
        return (found.members, found.threshold);
    }

    /// @inheritdoc IGeoEscrow
    function attestersFrom(uint256 refundDeadline) external view returns (Attesters[] memory sets) {
        (AttesterSet storage set,,) = _setFor(refundDeadline);
        uint256 first = set.number;
        uint256 newest = _newest.number;
        sets = new Attesters[](newest - first + 1);
        for (uint256 i; i < sets.length; ++i) sets[i] = _read(first + i == newest ? _newest : _older[first + i]);
    }

    /// @inheritdoc IGeoEscrow
    function proposedAttesters()
        external
        view
        returns (address[] memory members, uint256 threshold, uint256 readyAt)
    {
        if (!_isLive()) return (members, 0, 0);
        Attesters memory proposed = _read(_proposed);
        return (proposed.members, proposed.threshold, proposed.since);
    }

    /// @dev Whether a set is proposed and has not lapsed.
    function _isLive() private view returns (bool) {
        uint256 readyAt = _proposed.since;
        return readyAt != 0 && block.timestamp <= readyAt + ACCEPT_WINDOW;
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
        (uint256 threshold, uint256 size, address first) = (set.threshold, set.size, set.first);
        if (signatures.length != threshold * SIGNATURE_SIZE) revert NotAttested();
        bytes32 digest = _hashTypedData(structHash);
        uint256 next;
        for (uint256 i; i < threshold; ++i) {
            (bytes32 r, bytes32 vs) = SignatureLib.at(signatures, i);
            address signer = SignatureLib.signer(digest, r, vs);
            address member;
            do {
                if (next == size) revert NotAttested();
                member = next == 0 ? first : set.others[next - 1];
                ++next;
            } while (member != signer);
        }
    }

    function _member(AttesterSet storage set, uint256 place) private view returns (address) {
        return place == 0 ? set.first : set.others[place - 1];
    }

    function _write(AttesterSet storage set, address[] memory members, uint256 threshold, uint256 since) private {
        uint256 size = members.length;
        if (size == 0 || size > MAX_ATTESTERS || threshold == 0 || threshold > size) revert BadAttesters();
        address last;
        for (uint256 i; i < size; ++i) {
            if (members[i] <= last) revert BadAttesters();
            last = members[i];
            if (i == 0) set.first = last;
            else set.others[i - 1] = last;
        }
        (set.since, set.threshold, set.size) = (uint40(since), uint8(threshold), uint8(size));
    }

    function _read(AttesterSet storage set) private view returns (Attesters memory found) {
        found.members = new address[](set.size);
        for (uint256 i; i < found.members.length; ++i) found.members[i] = _member(set, i);
        (found.threshold, found.since) = (set.threshold, set.since);
    }
}
