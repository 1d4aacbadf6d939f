// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {MoodToken} from "./MoodToken.sol";
import {Vm, vm} from "./Vm.sol";

/// @dev Keeps its own books about everything that the contracts log, and notes which sentence about them is untrue.
abstract contract Ledger {
    enum Sentence { HoldsAll, LeavesOnce, OneOutcome, PaysOwners, Refundable, DeliversOnce, OwnAddress, OwnSet, Attested, Caps }
    enum State { NONE, LOCKED, CLAIMED, REFUNDED }

    struct Entry {
        IGeoEscrow.Op op;
        address locker;
        bytes32 hash;
        bytes32 set;
        State state;
    }

    struct Order {
        bytes32 ring;
        address token;
        IGeoVault.Fill fill;
        bool isDelivered;
    }

    /// @dev Number of tokens with moods, after native coin. The last token is the dollar with real signatures.
    uint256 internal constant MOODY = 3;
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    IGeoEscrow internal escrow;
    IGeoVault internal vault;
    address[] internal tokens;
    address[] internal wallets;
    Entry[] internal entries;
    /// @dev The numbers of the sentences that were found untrue, as bits.
    uint256 private _broken;

    address internal constant PAYOUT = address(0xca5e);
    address internal constant ATTACKER = address(0xbad);
    mapping(bytes32 hash => uint256 number) internal _numberOf;
    mapping(bytes32 delivery => Order) internal _orders;
    mapping(bytes32 ring => mapping(uint256 index => bool)) private _isPaid;
    mapping(address opAddress => address wallet) internal _walletOf;
    mapping(address => bool) internal _isWallet;
    mapping(address locker => mapping(uint256 position => uint256 round)) internal _lastRound;
    mapping(address token => uint256) internal _locked;
    mapping(address token => uint256) internal _credited;
    mapping(address token => uint256) internal _donated;
    mapping(address token => mapping(uint256 hour => uint256)) internal _claimed;
    mapping(address token => mapping(uint256 hour => uint256)) internal _refunded;
    mapping(address token => mapping(uint256 hour => uint256)) internal _delivered;
    mapping(address token => mapping(uint256 hour => uint256)) internal _claimCap;
    mapping(address token => mapping(uint256 hour => uint256)) internal _refundCap;
    mapping(address token => mapping(uint256 hour => uint256)) internal _vaultCap;
    /// @dev Whether the current call has no right to an outcome, or claims one by attestation.
    bool internal _isForged;
    bool internal _isAttestedRefund;

    function hour() internal view returns (uint256) {
        return block.timestamp / 1 hours;
    }

    /// @dev Calls a contract with limited gas, and books what it logs. The runner also records logs that were reverted,
    ///      so each is compared with what the contract stores.
    function _call(address caller, address target, bytes memory data) internal returns (bool ok) {
        vm.recordLogs();
        vm.prank(caller);
        (ok,) = target.call{gas: 1_200_000}(data);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; ok && i < logs.length; ++i) _book(logs[i]);
    }

    function _call(address caller, bytes memory data) internal returns (bool) {
        return _call(caller, address(escrow), data);
    }

    function _book(Vm.Log memory log) private {
        bytes32 topic = log.topics[0];
        if (log.emitter == address(vault)) {
            if (topic == IGeoVault.Delivered.selector) _bookDelivered(log.topics[1], abi.decode(log.data, (uint256)));
        } else if (log.emitter != address(escrow)) {
            if (topic == TRANSFER) _bookTransfer(_account(log.topics[1]), _account(log.topics[2]));
        } else if (topic == IGeoEscrow.Locked.selector) {
            _bookLocked(log.topics[1]);
        } else if (topic == IGeoEscrow.Claimed.selector) {
            _bookOutcome(log.topics[1], State.CLAIMED);
        } else if (topic == IGeoEscrow.Refunded.selector) {
            _bookOutcome(log.topics[1], State.REFUNDED);
        } else if (topic == IGeoEscrow.Credited.selector || topic == IGeoEscrow.Withdrawn.selector) {
            _bookCredits(_account(log.topics[2]));
        }
    }

    function _bookCredits(address token) private {
        uint256 sum = escrow.credits(address(vault), token);
        for (uint256 i; i < wallets.length; ++i) sum += escrow.credits(wallets[i], token);
        _credited[token] = sum;
    }

    function _bookLocked(bytes32 hash) private {
        if (_numberOf[hash] == 0) return;
        Entry storage entry = entries[_numberOf[hash] - 1];
        if (_stateOf(entry) != State.LOCKED) return;
        if (entry.state != State.NONE) _break(Sentence.LeavesOnce);
        entry.state = State.LOCKED;
        entry.set = setOf(entry.op.refundDeadline);
        _locked[entry.op.inputToken] += entry.op.inputAmount;
        _lastRound[entry.locker][uint32(entry.op.index)] = entry.op.index >> 32;
    }

    function _bookOutcome(bytes32 hash, State outcome) private {
        Entry storage entry = entries[_numberOf[hash] - 1];
        if (_stateOf(entry) != outcome) return;
        address token = entry.op.inputToken;
        uint256 amount = entry.op.inputAmount;
        if (entry.state != State.LOCKED) {
            _break(Sentence.LeavesOnce);
            if (entry.state != outcome && entry.state != State.NONE) _break(Sentence.OneOutcome);
            return;
        }
        bool isEarly = outcome == State.CLAIMED || block.timestamp <= entry.op.refundDeadline;
        if (isEarly && setOf(entry.op.refundDeadline) != entry.set) _break(Sentence.OwnSet);
        if (isEarly && _isForged) _break(Sentence.Attested);
        entry.state = outcome;
        _locked[token] -= amount;
        if (outcome == State.CLAIMED) {
            _claimed[token][hour()] += amount;
            if (_claimed[token][hour()] > _claimCap[token][hour()]) _break(Sentence.Caps);
        } else if (_isAttestedRefund) {
            _refunded[token][hour()] += amount;
            if (_refunded[token][hour()] > _refundCap[token][hour()]) _break(Sentence.Caps);
        }
    }

    function _bookTransfer(address from, address to) private {
        if (from == address(escrow) && to != address(vault) && !_isWallet[to]) _break(Sentence.PaysOwners);
        address wallet = _walletOf[from];
        if (wallet != address(0) && to != wallet && to != address(escrow)) _break(Sentence.OwnAddress);
    }

    function _bookDelivered(bytes32 delivery, uint256 amount) private {
        Order storage order = _orders[delivery];
        if (vault.lastRound(order.ring, uint32(order.fill.index)) < order.fill.index >> 32) return;
        if (order.isDelivered || _isPaid[order.ring][order.fill.index]) _break(Sentence.DeliversOnce);
        if (amount < order.fill.minOutput || block.timestamp > order.fill.fillDeadline) {
            _break(Sentence.DeliversOnce);
        }
        order.isDelivered = _isPaid[order.ring][order.fill.index] = true;
        _delivered[order.token][hour()] += order.fill.amount;
        if (_delivered[order.token][hour()] > _vaultCap[order.token][hour()]) _break(Sentence.Caps);
    }

    /// @dev The state that the escrow stores for the op.
    function _stateOf(Entry storage entry) internal view returns (State) {
        uint256 word = escrow.slot(entry.locker, uint32(entry.op.index));
        bool isThis = word << 34 == uint256(entry.hash) << 34 && word >> 224 == entry.op.index >> 32;
        return isThis ? State(word >> 222 & 3) : State.NONE;
    }

    function setOf(uint256 refundDeadline) internal view returns (bytes32) {
        (address[] memory members, uint256 threshold) = escrow.attestersFor(refundDeadline);
        return keccak256(abi.encode(members, threshold));
    }

    function balanceOf(address token, address holder) internal view returns (uint256) {
        return token == address(0) ? holder.balance : MoodToken(token).balanceOf(holder);
    }

    /// @dev The numbers of the sentences that are untrue, as bits.
    function untrue() external view returns (uint256 bits) {
        bits = _broken;
        for (uint256 i; i < tokens.length; ++i) {
            uint256 owed = _locked[tokens[i]] + _credited[tokens[i]] + _donated[tokens[i]];
            if (i > 0 && i <= MOODY) owed += MoodToken(tokens[i]).pretended(address(escrow));
            if (balanceOf(tokens[i], address(escrow)) != owed) bits |= 1 << uint256(Sentence.HoldsAll);
        }
    }

    function _break(Sentence sentence) internal {
        _broken |= 1 << uint256(sentence);
    }

    function _account(bytes32 topic) private pure returns (address) {
        return address(uint160(uint256(topic)));
    }
}
